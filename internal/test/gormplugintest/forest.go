package gormplugintest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// forest is the model of the state machine: what the trees of one table, and the leaves below them,
// have to be. It knows no SQL, and shares no code with the plugin.
type forest struct {
	rows, leaves map[int]node
	// room is how many characters a path may have, and depth how many names.
	room, depth int
	// form is how paths of names are stored, and leafForm how those of leaves are.
	form, leafForm spelling
	// leafPaths are the path columns of leaves.
	leafPaths gormplugin.Columns
	// nameless is set where names have nothing to do with places.
	nameless bool
	// byIDs is set where paths are of ids only, in which a root row counts, too.
	byIDs bool
}

// node is a row, or a leaf.
type node struct {
	tree int
	// parent is 0 at the top.
	parent  int
	name    string
	dead    bool
	version int
	note    string
}

// forest is what a table holds at first.
func (x *table) forest() forest {
	return forest{
		leafForm: spellingOf(x.leafPaths.PathForm), leafPaths: x.leafPaths, rows: make(map[int]node), leaves: make(map[int]node), room: x.room, depth: x.depth, form: x.pathForm, byIDs: x.path == "",
		nameless: x.nameless,
	}
}

// clone returns a forest that can be changed by itself.
func (f forest) clone() forest {
	f.rows, f.leaves = maps.Clone(f.rows), maps.Clone(f.leaves)
	return f
}

// live returns the rows that are not deleted, in order.
func (f forest) live() []int {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.rows)), func(id int) bool { return f.rows[id].dead })
}

// dead returns the rows that are deleted softly, in order.
func (f forest) dead() []int {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.rows)), func(id int) bool { return !f.rows[id].dead })
}

// line returns a row and those above it, itself last; false if one of them is not there, or if they
// go in a circle.
func (f forest) line(id int) (line []int, err error) {
	for ; id != 0; id = f.rows[id].parent {
		if n, ok := f.rows[id]; !ok || n.dead {
			return nil, pathlock.ErrNotFound
		}
		if slices.Contains(line, id) {
			return nil, gormplugin.ErrWouldCycle
		}
		line = append([]int{id}, line...)
	}
	return line, nil
}

// path returns the path of names of a live row.
func (f forest) path(id int) string {
	line, err := f.line(id)
	if err != nil {
		return ""
	}
	var path strings.Builder
	for _, at := range line {
		if name := f.rows[at].name; name != "" {
			path.WriteString("/" + name)
		}
	}
	return path.String()
}

// below returns the live rows of a subtree, its top included.
func (f forest) below(id int) []int {
	return slices.DeleteFunc(f.live(), func(other int) bool {
		line, err := f.line(other)
		return err != nil || !slices.Contains(line, id)
	})
}

// isRoot reports whether a row is the root row of its tree.
func (f forest) isRoot(id int) bool {
	n, ok := f.rows[id]
	return ok && !f.nameless && !n.dead && n.parent == 0 && n.name == ""
}

// moved reports whether two states of a row are of different places.
func (f forest) moved(a, b node) bool {
	return a.parent != b.parent || a.name != b.name && !f.nameless
}

// problems are the reasons for which a write that has given the rows their places is refused. It is
// refused with one of them.
func (f forest) problems(changed []int) (reasons []error) {
	add := func(err error) { reasons = append(reasons, err) }
	for _, id := range changed {
		n := f.rows[id]
		line, err := f.line(id)
		if err != nil {
			add(err)
		}
		if errors.Is(err, gormplugin.ErrWouldCycle) {
			add(gormplugin.ErrPathTooLong) // what is in a circle is as deep as one likes
		}
		if n.parent != 0 && f.rows[n.parent].tree != n.tree {
			add(gormplugin.ErrMisplaced)
		}
		if !f.nameless && (!validName(n.name) || !f.byIDs && strings.Contains(n.name, f.form.separator)) && !f.isRoot(id) {
			add(pathlock.ErrInvalidPath)
		}
		for _, other := range f.live() {
			o := f.rows[other]
			if other == id || o.tree != n.tree || f.nameless {
				continue
			}
			if o.parent == n.parent && o.name == n.name {
				add(gormplugin.ErrNameTaken)
			}
			if n.parent == 0 && o.parent == 0 && (f.isRoot(id) || f.isRoot(other)) {
				add(gormplugin.ErrRootRow)
				add(gormplugin.ErrNameTaken) // a child of the root row has the same path
			}
		}
		for _, other := range f.below(id) {
			if !f.nameless && utf8.RuneCountInString(f.form.of(f.path(other))) > f.room {
				add(gormplugin.ErrPathTooLong)
			}
			names := strings.Count(f.path(other), "/")
			if way, _ := f.line(other); f.byIDs {
				names = len(way)
			}
			if len(line) > 0 && names > f.depth {
				add(gormplugin.ErrPathTooLong)
			}
			for _, leaf := range f.leaves {
				if leaf.parent == other && f.isTooLong(leaf) {
					add(gormplugin.ErrPathTooLong)
				}
			}
		}
	}
	return reasons
}

// isTooLong reports whether the path of a leaf is.
func (f forest) isTooLong(leaf node) bool {
	return f.leafPaths.Path != "" && utf8.RuneCountInString(f.leafForm.of(f.path(leaf.parent)+"/"+leaf.name)) > f.room
}

// leafProblems are the reasons for which a leaf cannot have its place.
func (f forest) leafProblems(id int) (reasons []error) {
	leaf := f.leaves[id]
	if leaf.parent == 0 {
		return []error{gormplugin.ErrMisplaced}
	}
	if _, err := f.line(leaf.parent); err != nil {
		reasons = append(reasons, err)
	}
	if !validName(leaf.name) || f.leafPaths.Path != "" && !f.leafForm.ofParent && strings.Contains(leaf.name, f.leafForm.separator) {
		reasons = append(reasons, pathlock.ErrInvalidPath)
	}
	if f.isTooLong(leaf) {
		reasons = append(reasons, gormplugin.ErrPathTooLong)
	}
	for other, o := range f.leaves {
		if other != id && o.parent == leaf.parent && o.name == leaf.name {
			reasons = append(reasons, gormplugin.ErrNameTaken)
		}
	}
	return reasons
}

// hasPlace reports whether what is above a leaf is there.
func (f forest) hasPlace(leaf node) bool {
	_, err := f.line(leaf.parent)
	return leaf.parent != 0 && err == nil
}

// validName reports whether a path can contain a name.
func validName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00\n") && utf8.ValidString(name)
}

// matches reports whether an error is one of the reasons.
func matches(err error, reasons []error) bool {
	return slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) })
}
