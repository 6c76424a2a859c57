package fscktest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
)

// model says what is wrong with rows. It shares no code with package fsck.
type model struct {
	rows map[int]Node
	// loose is set if names are equal that differ in case alone.
	loose, withPath, withIDPath bool
	// pathForm and idForm are how paths are stored, as those of two names.
	pathForm, idForm string
}

// parent returns the sound parent of a row, and whether the row is an orphan.
func (m model) parent(n Node) (up Node, sound, orphan bool) {
	up, there := m.rows[n.Parent]
	switch {
	case n.Parent == 0:
		return Node{}, false, false
	case !there || up.Deleted || up.Tree != n.Tree:
		return Node{}, false, true
	default:
		return up, true, false
	}
}

// root is the key of a tree's root row, 0 if there is none.
func (m model) root(tree int) int {
	for _, id := range slices.Sorted(maps.Keys(m.rows)) {
		if n := m.rows[id]; n.isRoot() && !n.Deleted && n.Tree == tree {
			return id
		}
	}
	return 0
}

func (n Node) isRoot() bool { return n.Parent == 0 && n.Name == "" }

func (m model) badName(n Node) bool {
	_, err := pathlock.Root().Child(n.Name)
	separator := strings.Split(m.pathForm, "*")[1]
	return !n.isRoot() && (n.Name == null || err != nil || m.withPath && strings.Contains(n.Name, separator))
}

// spelled is what is stored of a path of names in a form.
func spelled(form string, names ...string) string {
	form, ofParent := strings.CutPrefix(form, "parent:")
	if ofParent && len(names) > 0 {
		names = names[:len(names)-1]
	}
	parts := strings.Split(form, "*")
	switch {
	case len(names) > 0:
		return parts[0] + strings.Join(names, parts[1]) + parts[2]
	case parts[2] == "":
		return strings.TrimSuffix(parts[0], parts[1])
	default:
		return parts[0]
	}
}

// cycle returns the least key of the cycle that a row is on, 0 if it is on none.
func (m model) cycle(n Node) int {
	least, at := n.ID, n
	for range m.rows {
		up, sound, _ := m.parent(at)
		if !sound {
			return 0
		}
		if at = up; at.ID == n.ID {
			return least
		}
		least = min(least, at.ID)
	}
	return 0
}

// right returns the right paths of a row, if it has any.
func (m model) right(n Node) (path, ids string, has bool) {
	if n.isRoot() {
		return spelled(m.pathForm), spelled(m.idForm, strconv.Itoa(n.ID)), true
	}
	var names, keys []string
	for at, steps := n, 0; steps <= len(m.rows); steps++ {
		up, sound, orphan := m.parent(at)
		if orphan || m.badName(at) {
			return "", "", false
		}
		keys = append(keys, strconv.Itoa(at.ID))
		if !at.isRoot() {
			names = append(names, at.Name)
		}
		if !sound {
			slices.Reverse(names)
			slices.Reverse(keys)
			return spelled(m.pathForm, names...), spelled(m.idForm, keys...), true
		}
		at = up
	}
	return "", "", false // a cycle
}

// problems returns "kind id" for each problem, sorted.
func (m model) problems() (found []string) {
	add := func(is bool, kind fsck.Kind, id int) {
		if is {
			found = append(found, fmt.Sprintf("%s %d", kind, id))
		}
	}
	type slot struct {
		tree, parent int
		name         string
	}
	named, folded := make(map[slot]int), make(map[slot]int)
	for _, id := range slices.Sorted(maps.Keys(m.rows)) {
		n := m.rows[id]
		if n.Deleted {
			continue
		}
		_, _, orphan := m.parent(n)
		root := m.root(n.Tree)
		add(m.badName(n), fsck.BadName, id)
		add(orphan, fsck.Orphan, id)
		add(m.cycle(n) == id, fsck.Cycle, id)
		path, ids, has := m.right(n)
		add(has && m.withPath && n.Path != path, fsck.WrongPath, id)
		add(has && m.withIDPath && n.IDPath != ids, fsck.WrongIDPath, id)
		add(n.Parent == 0 && root != 0 && root != id, fsck.BesideRoot, id)
		if n.Name == null || n.isRoot() {
			continue
		}
		// The top and the root row's children share their paths. The database groups by columns.
		place := slot{n.Tree, n.Parent, n.Name}
		if root != 0 && n.Parent == root {
			place.parent = 0
		}
		if named[place] == 0 {
			named[place] = id
		} else {
			add(true, fsck.Duplicate, id)
			continue
		}
		column := slot{n.Tree, n.Parent, strings.ToLower(n.Name)}
		if first := folded[column]; first == 0 {
			folded[column] = id
		} else {
			add(m.loose && m.rows[first].Name != n.Name, fsck.Lookalike, id)
		}
	}
	slices.Sort(found)
	return found
}

// model returns a model of rows of the table.
func (w *world) model(rows map[int]Node) model {
	return model{
		rows: rows, loose: w.loose, withPath: w.table.Path != "", withIDPath: w.table.IDPath != "",
		pathForm: cmp.Or(w.table.PathForm, "/*/*"), idForm: cmp.Or(w.table.IDPathForm, "/*/*"),
	}
}

// sound fails the test if the table is not sound.
func (w *world) sound(t testing.TB, rows map[int]Node) {
	t.Helper()
	if wrong := w.model(rows).problems(); len(wrong) > 0 {
		t.Errorf("unsound: %q", wrong)
	}
}
