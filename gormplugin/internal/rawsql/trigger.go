package rawsql

import (
	"slices"
	"strings"
)

// Body is what a trigger or a routine does to one table, as far as its text shows.
type Body struct {
	// Write is the first statement that writes the table; Writes is set if there is one. An UPDATE
	// that names nothing but columns of no interest is none.
	Write  Write
	Writes bool
	// SetsNew is set where a column of interest in the new row, or that row as a whole, gets
	// another value.
	SetsNew bool
	// Skips is set where a row may be left as it was without an error; ReturnsOld where a function
	// of PostgreSQL returns the old row, which is the usual thing before a DELETE and undoes an
	// UPDATE.
	Skips, ReturnsOld bool
	// Calls are the routines that are called, in lower case: whatever stands before a parenthesis
	// or behind CALL.
	Calls []string
	// Opaque is set where SQL is put together when it runs, or where a routine may write to what it
	// is given.
	Opaque bool
}

// Inspect reads the body of a trigger or a routine. The functions say which tables and columns are
// of interest; they get names without schema and quotes.
func (g *Grammar) Inspect(text string, table, column func(name string) bool) Body {
	b := body{grammar: g, table: table, column: column}
	for _, r := range g.readings(text) {
		tokens := g.tokens(text, r)
		if len(tokens) > 0 && tokens[0].is("CREATE") {
			// SQLite keeps the whole definition, whose head names the table.
			begin := slices.IndexFunc(tokens, func(t token) bool { return t.is("BEGIN") })
			tokens = tokens[max(begin, 0):]
		}
		for piece := range pieces(tokens) {
			b.read(piece)
		}
	}
	return b.Body
}

// body reads the statements of a body one by one, in each of its readings.
type body struct {
	Body
	grammar       *Grammar
	table, column func(string) bool
}

// read reads one statement, with whatever control structure stands before it.
func (b *body) read(tokens []token) {
	if len(tokens) > 0 && tokens[0].isAny("FOR", "WHILE") {
		// A loop's DO stands before its first statement, not before a conflict's UPDATE.
		if do := slices.IndexFunc(tokens, func(t token) bool { return t.is("DO") }); do >= 0 {
			b.read(tokens[:do])
			tokens = tokens[do+1:]
		}
	}
	s := statement{grammar: b.grammar, tokens: slices.Clone(tokens), guarded: b.table}
	for i := range s.tokens {
		if b.updatesOthers(s, i) {
			s.tokens[i] = token{kind: literal}
		}
	}
	if w, found := s.write(); found && !b.Writes {
		b.Write, b.Writes = w, true
	}
	b.calls(s)
	b.assigns(s)
	for i, t := range s.tokens {
		switch {
		case t.is("RETURN"):
			b.returns(s.tokens[i+1:])
		case t.is("RAISE") && s.at(i+1).isSign('(') && s.at(i+2).is("IGNORE"):
			b.Skips = true
		case t.is("EXECUTE"):
			b.Opaque = true
		}
	}
}

// updatesOthers reports whether an UPDATE begins at i that names a table of interest, and sets none
// of its columns of interest.
func (b *body) updatesOthers(s statement, i int) bool {
	if !s.at(i).is("UPDATE") {
		return false
	}
	i = s.skip(i+1, "ONLY", "LOW_PRIORITY")
	for i++; s.at(i).isSign('.'); i++ {
		i++
	}
	i = s.behind(i, "AS")
	if !s.at(i).is("SET") {
		i++ // an alias
	}
	if !s.at(i).is("SET") {
		return false
	}
	depth, opens := 0, true
	for i++; s.at(i).kind != end; i++ {
		t := s.at(i)
		switch {
		case t.isSign('('):
			if opens && depth == 0 {
				return false // a list of columns
			}
			depth++
		case t.isSign(')'):
			depth--
		case depth > 0:
		case t.isAny("WHERE", "FROM", "ORDER", "LIMIT", "RETURNING"):
			return true
		case t.isSign(','):
			opens = true
			continue
		case opens:
			for s.at(i + 1).isSign('.') {
				i += 2
			}
			if b.column(s.at(i).text) || !s.at(i+1).isSign('=') && !s.at(i+1).isSign('[') {
				return false
			}
		}
		opens = false
	}
	return true
}

// calls collects the routines that are called.
func (b *body) calls(s statement) {
	for i, t := range s.tokens {
		if t.kind != word && t.kind != name {
			continue
		}
		called := s.at(i + 1).isSign('(')
		for k := i - 1; !called && k >= 0 && !s.at(i+1).isSign('.'); k -= 2 {
			called = s.at(k).is("CALL")
			if !s.at(k).isSign('.') {
				break
			}
		}
		if called {
			b.Calls = append(b.Calls, strings.ToLower(t.text))
		}
	}
	for i, t := range s.tokens {
		if !t.is("CALL") {
			continue
		}
		for ; s.at(i).kind != end; i++ {
			if n := b.target(s, i); n > 0 && (s.at(i-1).isSign('(') || s.at(i-1).isSign(',')) && (s.at(i+n).isSign(')') || s.at(i+n).isSign(',')) {
				b.Opaque = true
			}
		}
	}
}

// target returns how many tokens at i name a column of interest in the new row, or that row; 0 for
// none.
func (b *body) target(s statement, i int) int {
	if !s.at(i).is("NEW") && (s.at(i).kind != name || !strings.EqualFold(s.at(i).text, "new")) {
		return 0
	}
	if !s.at(i + 1).isSign('.') {
		return 1
	}
	if t := s.at(i + 2); (t.kind == word || t.kind == name) && (b.column(t.text) || b.column(strings.ToLower(t.text))) || t.kind == opaque {
		return 3
	}
	return 0
}

// assigns looks for values that are given to the new row.
func (b *body) assigns(s statement) {
	depth, list := 0, -1 // the depth at which there is a list of assignments, or of targets
	into, diagnostics := false, false
	for i, t := range s.tokens {
		diagnostics = diagnostics || t.is("DIAGNOSTICS")
		switch {
		case t.isSign('('):
			depth++
		case t.isSign(')'):
			depth--
		case t.is("SET"):
			list, into = depth, false
		case t.is("INTO"):
			list, into = depth, true
		case into && t.isAny("FROM", "WHERE", "VALUES", "SELECT", "USING"):
			list = -1
		}
		n := b.target(s, i)
		if n == 0 {
			continue
		}
		equals := s.at(i+n).isSign('=') || s.at(i+n).isSign('[')
		before := s.at(i - 1)
		// MariaDB's Oracle mode writes :NEW.
		if before.isSign(':') {
			before = s.at(i - 2)
		}
		first := i == 0 || before.isAny("BEGIN", "THEN", "ELSE", "LOOP", "DO")
		switch {
		case s.at(i+n).isSign(':') && s.at(i+n+1).isSign('='),
			(first || diagnostics) && equals,
			before.is("FOR") && s.at(i+n).is("IN"),
			list == depth && into && (before.isAny("INTO", "STRICT") || before.isSign(',')),
			list == depth && !into && equals && (before.is("SET") || before.isSign(',')):
			b.SetsNew = true
		}
	}
}

// returns looks at what a trigger's function of PostgreSQL returns: the row that is written.
func (b *body) returns(value []token) {
	if !b.grammar.dollarQuotes {
		return
	}
	var words []string
	for _, t := range value {
		words = append(words, strings.ToUpper(t.text))
	}
	switch strings.Trim(strings.Join(words, " "), "() ") {
	case "NEW", "COALESCE ( NEW , OLD", "":
	case "NULL":
		b.Skips = true
	case "OLD", "COALESCE ( OLD , NEW":
		b.ReturnsOld = true
	default:
		b.SetsNew = true
	}
}

// Names reports whether an identifier in text is the given one, in whichever way the text may be
// read.
func (g *Grammar) Names(text, identifier string) bool {
	for _, r := range g.readings(text) {
		if slices.ContainsFunc(g.tokens(text, r), func(t token) bool {
			return (t.kind == word || t.kind == name) && strings.EqualFold(t.text, identifier)
		}) {
			return true
		}
	}
	return false
}
