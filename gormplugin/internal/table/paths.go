package table

import (
	"fmt"
	"iter"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm/schema"
)

// Follow gives a row the paths that follow from its place: below above, or at the top where above
// is nil. The path of ids of a row without a key lacks the last id, which has to be filled in
// later: see fillIDs in package write.
func (t *Table) Follow(n, above *Node) {
	if t.IsLeaf() {
		n.Path = above.Path + "/" + n.Name
		return
	}
	var path, ids string
	if above != nil {
		path, ids = above.Path, above.IDs
	}
	switch {
	case t.ByIDs:
		n.Path = path + "/" + IDText(n.ID)
	case above == nil:
		n.Path = topPath(n.Name)
	default:
		n.Path = path + "/" + n.Name
	}
	if t.IDs != nil {
		n.IDs = ids + "/" + IDText(n.ID)
	}
}

// topPath is the path of names of a row without a parent: a root row has no name.
func topPath(name string) string {
	if name == "" {
		return ""
	}
	return "/" + name
}

// IDText is a key as it stands in a path of ids, "" for none.
func IDText(id any) string {
	if id == nil {
		return ""
	}
	return fmt.Sprint(id)
}

// InPlace reports whether a row's paths are those that follow from its place. Where one is not,
// actual is what it should be.
func (t *Table) InPlace(n, above *Node) (actual string, ok bool) {
	want := *n
	t.Follow(&want, above)
	if n.Path != want.Path {
		return want.Path, false
	}
	return want.IDs, n.IDs == want.IDs
}

// CheckStated compares the paths that a caller states, "" where none is stated, with those that a
// row has or will have. It returns an error if a stated one is none of these.
func (t *Table) CheckStated(id any, path, ids string, nodes ...*Node) error {
	known := func(stated string, of func(*Node) string) error {
		if stated == "" {
			return nil
		}
		for _, n := range nodes {
			if of(n) == stated {
				return nil
			}
		}
		return &fault.PathChangedError{Table: t.TableName, ID: id, Planned: stated, Actual: of(nodes[len(nodes)-1])}
	}
	if err := known(path, func(n *Node) string { return n.Path }); err != nil {
		return err
	}
	return known(ids, func(n *Node) string { return n.IDs })
}

// HasIDs reports whether the table has a path of ids, alone or beside one of names.
func (t *Table) HasIDs() bool { return t.ByIDs || t.IDs != nil }

// CheckID refuses a key that cannot be a part of a path.
func (t *Table) CheckID(id any) error {
	if id == nil || !t.HasIDs() {
		return nil
	}
	if _, err := pathlock.Root().Child(IDText(id)); err != nil {
		return fmt.Errorf("%s: the key %q in a path of ids: %w", t.TableName, IDText(id), err)
	}
	return nil
}

// lacksID reports whether a path of ids still lacks the row's own: "/17/".
func lacksID(path string) bool { return strings.HasSuffix(path, "/") }

// PathsIn returns a row's paths by their columns.
func (t *Table) PathsIn(n *Node) iter.Seq2[*schema.Field, string] {
	return func(yield func(*schema.Field, string) bool) {
		if yield(t.Path, n.Path) && t.IDs != nil {
			yield(t.IDs, n.IDs)
		}
	}
}

// CheckedLocation returns a row's location, once it has checked the name and the paths against what
// a tree and the columns can hold. atTop is set for a row without a parent, which may be a root
// row, without a name.
func (t *Table) CheckedLocation(n *Node, atTop bool) (pathlock.Location, error) {
	tree, err := t.Above.TreeOf(n.Tree)
	if err != nil {
		return pathlock.Location{}, err
	}
	if n.Name == "" && atTop {
		return pathlock.Location{Tree: tree, Path: pathlock.Root()}, nil
	}
	above, err := pathlock.ParsePath(n.Path[:max(strings.LastIndexByte(n.Path, '/'), 0)])
	if err != nil {
		return pathlock.Location{}, t.Above.Damaged(n.Parent, err)
	}
	path, err := above.Child(n.Name)
	if err != nil {
		return pathlock.Location{}, err
	}
	return pathlock.Location{Tree: tree, Path: path}, t.checkLengths(n)
}
