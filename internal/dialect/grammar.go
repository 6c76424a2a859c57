package dialect

import "regexp"

// Grammar is what of hand-written SQL differs: its words, quotes and comments. A shape is a
// statement as package rawsql writes it.
type Grammar struct {
	// Quotes begin a string or a quoted name.
	Quotes string
	// Escaped has, for each setting of the server, the quotes in which a backslash takes the next
	// byte along.
	Escaped []string
	// Dashes and, if HashComments is set, # begin a comment, which ends before any of LineEnds.
	Dashes       *regexp.Regexp
	HashComments bool
	LineEnds     string
	// Executes finds, behind its mark, a comment that may be executed, such as /*!50000 … */.
	Executes *regexp.Regexp
	// Charsets is set where the connection may have another character set than UTF-8.
	Charsets bool
	// Dollars is set where there are $tag$ strings, E'strings', U&'strings' and U&"names".
	Dollars bool
	// StoredFunctions is set where a function that a SELECT calls may write.
	StoredFunctions bool
	// Copies finds, in SQL, what copies rows to another table where a migrator makes one anew.
	Copies *regexp.Regexp
	// RunsText finds, in a shape, a statement that runs a text, and Hides, in the SQL in small
	// letters, what may hide a name there.
	RunsText, Hides *regexp.Regexp
	// Ends finds, in a shape, what ends the transaction or a part of it, and Stays what does not
	// after all.
	Ends, Stays *regexp.Regexp
}

// never matches nothing.
var never = regexp.MustCompile(`$.`)
