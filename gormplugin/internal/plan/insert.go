package plan

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// Arrival is a row that is about to be given a place.
type Arrival struct {
	*Node
	// Stated and StatedIDs are the paths that the caller gave, "" if none, and StatedTree is the
	// tree, nil if none. A row may be planned twice, and Tree is then what the first plan found.
	Stated, StatedIDs string
	StatedTree        any
	// ByPath is set if the caller gave a path and no parent: above is the parent's path then.
	ByPath bool
	above  string
	// AsRead is set if an upsert may state what was read of the row: its path may be older than
	// its parent, which decides.
	AsRead bool
	// At is its name slot, once it has a place.
	At pathlock.Location
}

// ReadPath puts the row where its path says, if it states no parent. A row without a name gets the
// last one of its path.
func (s *Shape) ReadPath(row *Arrival) {
	if row.Parent != nil {
		return
	}
	if s.IsLeaf {
		row.Tree = s.Above.Sole
	}
	above, name, ok := s.placeIn(row.Stated)
	if row.Name == "" {
		row.Name = name
	}
	row.above, row.ByPath = above, ok && row.Tree != nil && (row.Name == name || s.PathForm.OfParent)
}

// Above returns where the parent is that a row states by its path.
func (row *Arrival) Above() Spot { return Spot{row.Tree, row.above} }

// Insert gives new rows their places: below a parent in the database, which is among parents, by
// id, or below another new row that states its own id. The anchors are these parents.
func (s *Shape) Insert(rows []*Arrival, parents map[any]*Node) (claims Claims, anchors []*Node, err error) {
	claims = make(Claims)
	stated := StatedKeys(rows)
	for _, row := range rows {
		if err := s.Place(row, stated, parents); err != nil {
			return nil, nil, err
		}
		claims.Add(row.At)
		if parent := parents[row.Parent]; parent != nil && !slices.Contains(anchors, parent) {
			anchors = append(anchors, parent)
		}
	}
	return claims, anchors, nil
}

// StatedKeys returns the new rows that state their own ids, by these.
func StatedKeys(rows []*Arrival) map[any]*Arrival {
	stated := make(map[any]*Arrival)
	for _, row := range slices.Backward(rows) {
		if row.ID != nil {
			stated[row.ID] = row
		}
	}
	return stated
}

// Place gives one of the new rows its place. It may lie below those that state their ids.
func (s *Shape) Place(row *Arrival, stated map[any]*Arrival, parents map[any]*Node) error {
	above, err := s.aboveNew(row, stated, parents, 0)
	if err != nil {
		return err
	}
	switch {
	case above == nil && row.ByPath && row.above != "":
		return s.noneAt(row.above)
	case above == nil && s.IsLeaf:
		return s.parentless(row)
	case above != nil:
		if row.StatedTree != nil && row.StatedTree != above.Tree && !s.IsLeaf {
			return s.Misplaced(otherTree, fmt.Sprintf("%s is in %s, not in %s", shown.ID(above.ID), shown.ID(above.Tree), shown.ID(row.StatedTree)))
		}
		row.Tree = above.Tree
	}
	if err := s.CheckID(row.ID); err != nil {
		return err
	}
	s.Follow(row.Node, above)
	if above == nil && (row.Stated != Top || !s.PathForm.OfParent) && s.checkStated(row.ID, row.Stated, row.StatedIDs, row.Node) != nil {
		return s.parentless(row)
	}
	if row.At, err = s.checkedLocation(row.Node, above == nil); err != nil {
		return err
	}
	if err := s.checkDepth(row.At.Path); err != nil || above == nil || s.ByIDs || !s.PathForm.OfParent || row.AsRead {
		return err
	}
	// A path of the row's own may be that of the row from which it was copied.
	if err := s.checkStated(row.ID, row.Stated, "", row.Node); err != nil {
		return fmt.Errorf("%w: %w", err, shown.Inside("a new row states that path, and the parent "+s.Above.RowName(above.ID)+": state one of them"))
	}
	return nil
}

// parentless is the error of a new row that states no parent, and no path that says one.
func (s *Shape) parentless(row *Arrival) error {
	text := shown.Cut(s.PathForm.Print(row.Stated))
	_, err := s.parse(row.Stated)
	switch {
	case s.IsLeaf && row.Stated == "":
		return s.Misplaced("a leaf needs a parent")
	case s.IsLeaf && s.Above.Sole == nil:
		return s.Misplaced("a leaf needs a parent: a path says it only if the tree's table has no tree column")
	case row.Stated == "" || s.ByIDs || s.Nameless:
		return s.Misplaced("a new row states a path of ids, but no parent: state the parent, or leave the path empty for the top")
	case err != nil:
		return s.Misplaced(fmt.Sprintf("the path %q says no parent: %v", text, err))
	case row.StatedTree == nil && !s.IsLeaf:
		return s.Misplaced(fmt.Sprintf("a new row states the path %q instead of its parent, but no tree: state the tree, too", text))
	default:
		return s.Misplaced(fmt.Sprintf("the path %q of a new row does not end in its name, %q", text, shown.Cut(row.Name)))
	}
}

// aboveNew returns the row that a new row hangs below, nil for one at the top.
func (s *Shape) aboveNew(row *Arrival, stated map[any]*Arrival, parents map[any]*Node, depth int) (*Node, error) {
	if row.Parent == nil {
		return nil, nil
	}
	if n := parents[row.Parent]; n != nil {
		return n, nil
	}
	if depth > pathlock.MaxDepth {
		return nil, fmt.Errorf("%w: %w: the new rows are each other's parents", fault.ErrWouldCycle, shown.Inside(s.TableName))
	}
	if other := stated[row.Parent]; other != nil && !s.IsLeaf {
		above, err := s.aboveNew(other, stated, parents, depth+1)
		if err != nil {
			return nil, err
		}
		n := *other.Node
		if above != nil {
			n.Tree = above.Tree
		}
		s.Follow(&n, above)
		return &n, nil
	}
	of := fmt.Sprintf("%q", shown.Cut(row.Name))
	if s.Nameless {
		of = "a new row" // its name is made up
	}
	return nil, NotFound("%s, the parent of %s", s.Above.RowName(row.Parent), of)
}

// TopArrivalsOf returns which trees new rows come into, and which of the rows come to the top.
func TopArrivalsOf(rows []*Arrival) TopArrivals {
	l := make(TopArrivals)
	for _, row := range rows {
		l.Add(row.Node, row.At.Tree)
	}
	return l
}
