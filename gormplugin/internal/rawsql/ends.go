package rawsql

import (
	"regexp"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// EndsTransaction returns the first statement in sql that ends the transaction that it runs in, or
// a part of it: "COMMIT", "CREATE TABLE" which commits implicitly, "ROLLBACK TO SAVEPOINT". It is
// known by its first words.
func EndsTransaction(g *dialect.Grammar, sql string) (ended string, found bool) {
	for _, shape := range shapes(g, sql) {
		for s := range strings.SplitSeq(shape, "; ") {
			switch end := g.Ends.FindString(s); {
			case s == script:
				return "SCRIPT", true
			case strings.HasPrefix(s, "RELEASE "):
				return string(ReleaseSavepoint), true
			case strings.HasPrefix(s, "ROLLBACK ") && strings.Contains(s, " TO "):
				return string(BackToSavepoint), true
			case end != "" && !g.Stays.MatchString(s):
				return strings.Trim(end, " :"), true
			case strings.HasPrefix(s, "SET ") && strings.Contains(folded(sql), "autocommit"):
				return "SET autocommit", true
			}
		}
	}
	return "", false
}

// SavepointVerb is what a statement does with a savepoint.
type SavepointVerb string

const (
	// SetSavepoint sets one.
	SetSavepoint SavepointVerb = "SAVEPOINT"
	// BackToSavepoint undoes what was done since; the savepoint stays.
	BackToSavepoint SavepointVerb = "ROLLBACK TO SAVEPOINT"
	// ReleaseSavepoint drops it, and those that were set after it.
	ReleaseSavepoint SavepointVerb = "RELEASE SAVEPOINT"
)

// SavepointStep is a statement about a savepoint.
type SavepointStep struct {
	Verb SavepointVerb
	// Name is in small letters.
	Name string
}

// plainSavepoint is the form in which GORM writes statements about savepoints, with a name that
// every database compares in the same way.
var plainSavepoint = regexp.MustCompile(`^(SAVEPOINT|ROLLBACK TO SAVEPOINT|RELEASE SAVEPOINT) ([A-Za-z_][A-Za-z0-9_]{0,62})$`)

// PlainSavepoint reads a statement about a savepoint that has GORM's own form.
func PlainSavepoint(sql string) (SavepointStep, bool) {
	found := plainSavepoint.FindStringSubmatch(sql)
	if found == nil {
		return SavepointStep{}, false
	}
	return SavepointStep{SavepointVerb(found[1]), strings.ToLower(found[2])}, true
}
