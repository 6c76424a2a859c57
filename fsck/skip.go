package fsck

import (
	"fmt"

	"github.com/pathlock-go/pathlock"
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

// skip counts a skip and tells of it.
func (r *repair) skip(skips ...Skip) error {
	for _, s := range skips {
		r.summary.Skipped++
		if r.opts.Skipped == nil {
			continue
		}
		if err := r.opts.Skipped(s); err != nil {
			return err
		}
	}
	return nil
}

// leave leaves a whole tree as it is, for the rest of the repair.
func (r *repair) leave(tree Key, why error) error {
	if len(r.left) >= remembered {
		clear(r.left)
	}
	r.left[tree] = true
	return r.skip(Skip{Tree: tree, Reason: why.Error()})
}

// lockable returns the tree's name among the locks.
func (r *repair) lockable(tree Key) (pathlock.Tree, error) {
	if tree.v == nil {
		return pathlock.Tree{}, fmt.Errorf("%w: the rows are in no tree", pathlock.ErrInvalidTree)
	}
	if tree.isFraction() {
		return pathlock.Tree{}, fmt.Errorf("%w: the tree's id is no whole number", pathlock.ErrInvalidTree)
	}
	return pathlock.NewTree(r.table.Namespace, tree.String())
}
