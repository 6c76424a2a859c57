package rawsql

import (
	"slices"
	"strings"
)

// SavepointVerb is what a statement does with a savepoint.
type SavepointVerb uint8

const (
	// SetSavepoint is SAVEPOINT name.
	SetSavepoint SavepointVerb = iota + 1
	// BackToSavepoint is ROLLBACK TO name: what was done since is undone, and the savepoint stays.
	BackToSavepoint
	// ReleaseSavepoint is RELEASE name: the savepoint goes, and those that were set after it.
	ReleaseSavepoint
)

// SavepointStep is one statement about a savepoint.
type SavepointStep struct {
	Verb SavepointVerb
	Name SavepointName
}

// Savepoints returns what sql does with savepoints, and whether it has other statements, too.
func (g *Grammar) Savepoints(sql string) (steps []SavepointStep, others bool) {
	if g.readsOrWrites(sql) {
		return nil, true
	}
	for piece := range pieces(g.tokens(sql, reading{})) {
		s := statement{grammar: g, tokens: piece}
		step, found := s.savepoint()
		switch {
		case found:
			steps = append(steps, step)
		case len(piece) > 0:
			others = true
		}
	}
	return steps, others
}

// backWords are the words without which no statement of MySQL or MariaDB does anything with a
// savepoint, be it in a routine that it calls or a text that it runs.
var backWords = []string{"SAVEPOINT", "ROLLBACK", "RELEASE", "CALL", "EXECUTE"}

// MayGoBackUnseen reports whether sql may go back to a savepoint in a way that [Grammar.Savepoints]
// does not tell: in a comment that is executed, a routine or a text; or as one of several
// statements, where nobody knows which ones ran if there is an error.
func (g *Grammar) MayGoBackUnseen(sql string) bool {
	if g.dollarQuotes || g.readsOrWrites(sql) {
		return false // PostgreSQL's routines cannot go back, and an error ends what was done
	}
	steps, others := g.Savepoints(sql)
	if !g.compounds {
		return len(steps) > 1 || len(steps) == 1 && others
	}
	if !slices.ContainsFunc(backWords, func(w string) bool { return containsWord(sql, w) }) {
		return false
	}
	if len(versionMarks(sql)) == 0 && len(steps) == 1 && !others {
		return false
	}
	if g.isAmbiguous(sql) {
		return true
	}
	return slices.ContainsFunc(g.readings(sql), func(r reading) bool {
		return slices.ContainsFunc(g.tokens(sql, r), func(t token) bool { return t.isAny(backWords...) })
	})
}

// readsOrWrites is a quick way to see that sql is one statement on rows.
func (g *Grammar) readsOrWrites(sql string) bool {
	l := lexer{sql: strings.TrimLeft(sql, " \t\r\n(")}
	return l.word().isAny("SELECT", "INSERT", "UPDATE", "DELETE", "WITH") && strings.IndexByte(sql, ';') < 0
}

// savepoint: SAVEPOINT name, ROLLBACK [WORK | TRANSACTION] TO [SAVEPOINT] name and RELEASE
// [SAVEPOINT] name.
func (s *statement) savepoint() (SavepointStep, bool) {
	switch {
	case s.at(0).is("SAVEPOINT"):
		return SavepointStep{SetSavepoint, s.savepointName(1)}, true
	case s.at(0).is("RELEASE"):
		return SavepointStep{ReleaseSavepoint, s.savepointName(s.behind(1, "SAVEPOINT"))}, true
	case s.at(0).is("ROLLBACK"):
		if i := s.skip(1, "WORK", "TRANSACTION"); s.at(i).is("TO") {
			return SavepointStep{BackToSavepoint, s.savepointName(s.behind(i+1, "SAVEPOINT"))}, true
		}
	}
	return SavepointStep{}, false
}

// savepointName returns the name at i.
func (s *statement) savepointName(i int) SavepointName {
	t := s.at(i)
	if t.kind == opaque || t.kind == end {
		return SavepointName{}
	}
	return s.grammar.SavepointName(t.text, t.kind != word)
}
