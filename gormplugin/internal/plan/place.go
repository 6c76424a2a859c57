package plan

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// Follow gives a row the paths that follow from its place: below above, or at the top where above
// is nil. The path of ids of a row without a key lacks the last id, which has to be filled in
// later.
func (s *Shape) Follow(n, above *Node) {
	if s.IsLeaf {
		n.Tree, n.Path = above.Tree, above.Path+"/"+n.Name
		if ids := above.IDs; s.BothPaths {
			if s.Above.ByIDs {
				ids = above.Path
			}
			n.IDs = ids + "/" + IDText(n.ID)
		}
		return
	}
	var path, ids string
	if above != nil {
		path, ids = above.Path, above.IDs
	}
	switch {
	case s.ByIDs:
		n.Path = path + "/" + IDText(n.ID)
	case above == nil && n.Name == "":
		n.Path = "" // a root row
	default:
		n.Path = path + "/" + n.Name
	}
	if s.BothPaths {
		n.IDs = ids + "/" + IDText(n.ID)
	}
}

// inPlace checks that a row's paths are those that follow from its place.
func (s *Shape) inPlace(n, above *Node) error {
	want := *n
	s.Follow(&want, above)
	switch {
	case n.Path != want.Path:
		return &fault.PathChangedError{Table: s.TableName, ID: n.ID, Planned: n.Path, Actual: want.Path}
	case n.IDs != want.IDs:
		return &fault.PathChangedError{Table: s.TableName, ID: n.ID, Planned: n.IDs, Actual: want.IDs}
	}
	return nil
}

// Top is the top as a path that a caller states; "" states none.
const Top = "/"

// checkStated compares the paths that a caller states, "" for none, with those that a row has or
// will have. It returns an error if a stated path is neither.
func (s *Shape) checkStated(id any, path, ids string, nodes ...*Node) error {
	known := func(stated string, of func(*Node) string) error {
		if stated == "" {
			return nil
		}
		for _, n := range nodes {
			if cmp.Or(of(n), Top) == stated {
				return nil
			}
		}
		changed := &fault.PathChangedError{Table: s.TableName, ID: id, Planned: stated, Actual: of(nodes[len(nodes)-1])}
		return fmt.Errorf("%w: %w", changed, shown.Inside("state the path that the row has, or none"))
	}
	if err := known(path, func(n *Node) string { return s.PathForm.Holds(n.Path) }); err != nil {
		return err
	}
	return known(ids, func(n *Node) string { return s.IDsForm.Holds(n.IDs) })
}

// Spot is where a row is.
type Spot struct {
	Tree any
	Path string
}

// Above are the places above one, from the lowest up to the top.
func (s Spot) Above() iter.Seq[Spot] {
	return func(yield func(Spot) bool) {
		for s.Path != "" {
			s.Path = s.Path[:max(strings.LastIndexByte(s.Path, '/'), 0)]
			if !yield(s) {
				return
			}
		}
	}
}

// placeIn reads a path that a caller states instead of a parent: the parent's path and, where the
// column has it, the row's name. ok is false if the path says no place: that of a root row, one of
// ids, or one that none can be.
func (s *Shape) placeIn(stated string) (above, name string, ok bool) {
	if path, err := s.parse(stated); err != nil || path.IsRoot() || s.ByIDs || s.Nameless {
		return "", "", false
	}
	if s.PathForm.OfParent {
		return stated, "", true
	}
	last := strings.LastIndexByte(stated, '/')
	return stated[:last], stated[last+1:], true
}

// noneAt is the error for the path of a parent at which there is no live row.
func (s *Shape) noneAt(path string) error {
	return NotFound("%s with the path %q, as a parent", s.Above.TableName, shown.Cut(s.PathForm.Print(path)))
}

// AsStated reports whether the columns of a row hold the stated paths, "" if none is stated.
func (s *Shape) AsStated(n *Node, path, ids string) bool {
	return s.checkStated(n.ID, path, ids, n) == nil
}

// StatedBelow reports whether a path that a caller states can be outdated only because a row above
// n has changed its place, and not n itself: n, which stays below its parent, still has the name in
// which the path ends.
func (s *Shape) StatedBelow(n *Node, path string) bool {
	return path == "" || s.ByIDs || s.PathForm.OfParent || strings.HasSuffix(path, "/"+n.Name)
}

// CheckID refuses a key that cannot be a part of a path.
func (s *Shape) CheckID(id any) error {
	if id == nil || !s.HasIDs() {
		return nil
	}
	form := s.IDsForm
	if s.ByIDs {
		form = s.PathForm
	}
	_, err := pathlock.Root().Child(IDText(id))
	if err = cmp.Or(err, form.Check(IDText(id))); err != nil {
		return fmt.Errorf("%s: the key %q in a path of ids: %w", s.TableName, IDText(id), err)
	}
	return nil
}

// checkDepth refuses a place that is too deep.
func (s *Shape) checkDepth(path pathlock.Path) error {
	if path.Depth() <= s.MaxDepth {
		return nil
	}
	return &fault.TooDeepError{Table: s.TableName, Path: path.Column(), Depth: path.Depth(), Limit: s.MaxDepth}
}

// Location says where a row of the database with a path is.
func (s *Shape) Location(n *Node) (pathlock.Location, error) {
	tree, err := s.Above.TreeOf(n.Tree)
	if err != nil {
		return pathlock.Location{}, s.Damaged(n.ID, err)
	}
	if n.Path == "" && !s.IsLeaf && (s.ByIDs || !n.IsRoot()) {
		return pathlock.Location{}, s.Damaged(n.ID, fmt.Errorf("%w: it is empty, as only that of a root row may be", pathlock.ErrInvalidPath))
	}
	path, err := s.parse(n.Path)
	if err != nil {
		return pathlock.Location{}, s.Damaged(n.ID, err)
	}
	return pathlock.Location{Tree: tree, Path: path}, nil
}

// parse parses a path that was read from the database.
func (s *Shape) parse(path string) (pathlock.Path, error) {
	parsed, err := pathlock.ParsePath(path)
	if err != nil {
		err = cmp.Or(s.PathForm.Refuse(path), err)
	}
	return parsed, err
}

// checkedLocation returns the name slot of a row, once it has checked the name and the paths
// against what a tree and the columns can hold. atTop is set for a row without a parent, which may
// be a root row, without a name.
func (s *Shape) checkedLocation(n *Node, atTop bool) (pathlock.Location, error) {
	tree, err := s.Above.TreeOf(n.Tree)
	if err != nil {
		return pathlock.Location{}, err
	}
	if n.Name == "" && atTop {
		return pathlock.Location{Tree: tree, Path: pathlock.Root()}, nil
	}
	last := n.Name // which may be any text
	if s.ByIDs && !s.IsLeaf {
		last = IDText(n.ID)
	}
	above, err := s.Above.parse(strings.TrimSuffix(n.Path, "/"+last))
	if err != nil {
		return pathlock.Location{}, s.Above.Damaged(n.Parent, err)
	}
	if depth := above.Depth() + 1; depth > pathlock.MaxDepth {
		return pathlock.Location{}, &fault.TooDeepError{Table: s.TableName, Path: n.Path, Depth: depth, Limit: s.MaxDepth}
	}
	path, err := above.Child(n.Name)
	if nowhere := s.IsLeaf && s.PathForm.OfParent; err == nil && !s.ByIDs && !nowhere {
		err = s.PathForm.Check(n.Name)
	}
	if err != nil {
		return pathlock.Location{}, err
	}
	err = cmp.Or(s.NameRoom.Fits(utf8.RuneCountInString(n.Name), n.Name), s.checkPaths(n, longestID))
	return pathlock.Location{Tree: tree, Path: path}, err
}

// TopArrival is what a statement puts at the top of a tree.
type TopArrival struct {
	Tree any
	// Domain is the tree's lock domain.
	Domain pathlock.Tree
	// Root is set for a root row.
	Root bool
	// Rows is how many rows the statement brings into the tree altogether, and AtTop how many of
	// these are at the top.
	Rows, AtTop int
}

// TopArrivals are what a statement puts at the top of trees, by tree.
type TopArrivals map[any]*TopArrival

// Add notes a row that comes into a tree, or to the top of it.
func (l TopArrivals) Add(n *Node, domain pathlock.Tree) {
	at := l[n.Tree]
	if at == nil {
		at = &TopArrival{Tree: n.Tree, Domain: domain}
		l[n.Tree] = at
	}
	at.Rows++
	if n.Parent == nil {
		at.AtTop++
		at.Root = at.Root || n.IsRoot()
	}
}

// AtTops returns the arrivals that put a row at the top, in an order that is the same for
// everybody.
func (l TopArrivals) AtTops() []*TopArrival {
	all := slices.DeleteFunc(slices.Collect(maps.Values(l)), func(at *TopArrival) bool { return at.AtTop == 0 })
	slices.SortFunc(all, func(a, b *TopArrival) int { return cmp.Compare(a.Domain.ID(), b.Domain.ID()) })
	return all
}
