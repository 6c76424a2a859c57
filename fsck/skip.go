package fsck

import (
	"fmt"
)

// Skip is a row, or a whole tree, that a repair has to leave as it is. The repair goes on with the
// others.
type Skip struct {
	Tree Key `json:"tree"`
	// ID is the row; none for a whole tree, such as one that somebody else keeps busy.
	ID Key `json:"id"`
	// Why is what would have been mended.
	Why Kind `json:"why,omitempty"`
	// Reason says what stood in the way.
	Reason string `json:"reason"`
}

// String writes the skip for people.
func (s Skip) String() string {
	if s.ID.IsZero() {
		return fmt.Sprintf("tree %v: %s", s.Tree, s.Reason)
	}
	return fmt.Sprintf("tree %v, row %v (%s): %s", s.Tree, s.ID, s.Why, s.Reason)
}

// leftError says why a row stays as it is. No statement has failed where the transaction is not
// careful.
type leftError struct{ why error }

func (e leftError) Error() string { return e.why.Error() }

func (e leftError) Unwrap() error { return e.why }
