package rawsql

import (
	"regexp"
	"strings"
)

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
// every database tells from others in the same way.
var plainSavepoint = regexp.MustCompile(`^(SAVEPOINT|ROLLBACK TO SAVEPOINT|RELEASE SAVEPOINT) ([A-Za-z_][A-Za-z0-9_]{0,62})$`)

// PlainSavepoint reads a statement about a savepoint that has GORM's own form.
func PlainSavepoint(sql string) (SavepointStep, bool) {
	found := plainSavepoint.FindStringSubmatch(sql)
	if found == nil {
		return SavepointStep{}, false
	}
	return SavepointStep{SavepointVerb(found[1]), strings.ToLower(found[2])}, true
}

// savepoint returns what a statement in any form does with a savepoint, "" if nothing.
func (s *statement) savepoint(i int) SavepointVerb {
	switch first := s.at(i); {
	case first.is("SAVEPOINT"):
		return SetSavepoint
	case first.is("RELEASE"):
		return ReleaseSavepoint
	case first.is("ROLLBACK") && s.holds("TO"):
		return BackToSavepoint
	default:
		return ""
	}
}
