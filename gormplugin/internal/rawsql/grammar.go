package rawsql

// Grammar is what tells one dialect from the others.
type Grammar struct {
	// hashComments is set where # begins a comment.
	hashComments bool
	// dashesNeedSpace is set where -- begins a comment only before a space or a control character.
	dashesNeedSpace bool
	// returnEndsLine is set where a carriage return ends a comment of one line.
	returnEndsLine bool
	// nestedComments is set where comments nest.
	nestedComments bool
	// versionComments is set where comments such as /*!50000 … */ are executed.
	versionComments bool
	// backquotes is set where identifiers may be in `backquotes`.
	backquotes bool
	// brackets is set where identifiers may be in [brackets]; in MariaDB where sql_mode says so.
	brackets bool
	// dollarQuotes is set where there are $tag$ strings, E'strings', U&'strings' and
	// U&"identifiers".
	dollarQuotes bool
	// variables is set where $name, @name and :name may go on in parentheses, quotes included.
	variables bool
	// byteOrderMarks is set where a byte order mark is a space.
	byteOrderMarks bool
	// stringsName is set where a string in single quotes may name a table, and doubleQuotedStrings
	// where settings decide whether double quotes hold a string or a name.
	stringsName, doubleQuotedStrings bool
	// joinedTargets is set where one statement writes to several tables of a join.
	joinedTargets bool
	// backslashes is set where settings of the server decide what a backslash in a string is.
	backslashes bool
	// selectInto is set where SELECT … INTO makes a table.
	selectInto bool
	// compounds is set where a statement may hold others between words such as IF and END IF, and
	// commitsDDL where a statement that defines something commits the transaction.
	compounds, commitsDDL bool
	// nameBytes is how many bytes of a name count, 0 if all of them do.
	nameBytes int
}

// The dialects.
var (
	MySQL = Grammar{
		backquotes: true, brackets: true, hashComments: true, dashesNeedSpace: true, versionComments: true, doubleQuotedStrings: true,
		joinedTargets: true, backslashes: true, compounds: true, commitsDDL: true,
	}
	PostgreSQL = Grammar{
		returnEndsLine: true, nestedComments: true, dollarQuotes: true, backslashes: true, selectInto: true, nameBytes: 63,
	}
	SQLite = Grammar{backquotes: true, brackets: true, variables: true, byteOrderMarks: true, stringsName: true}
)
