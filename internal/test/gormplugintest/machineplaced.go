package gormplugintest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// placed completes a statement that has given rows of g other places than in the forest.
func (m *machine) placed(g forest, changed []int, s statement) statement {
	s.after, s.reasons = g, append(s.reasons, g.problems(changed)...)
	if len(changed) > 0 {
		s.claims = make(map[int][]string)
	}
	for _, id := range changed {
		s.top = s.top || g.rows[id].parent == 0
		for _, f := range []forest{m.forest, g} {
			if _, ok := f.rows[id]; ok && !f.rows[id].dead && (len(s.reasons) == 0 || f.path(id) != "") {
				s.claims[f.rows[id].tree] = append(s.claims[f.rows[id].tree], f.path(id))
			}
		}
	}
	for tree, paths := range s.claims {
		s.claims[tree] = topmost(paths)
	}
	if len(s.reasons) > 0 {
		return s
	}
	for _, id := range g.live() {
		n, was := g.rows[id], m.rows[id]
		if _, ok := m.rows[id]; !ok || was.dead {
			continue
		}
		line, _ := g.line(id)
		before, _ := m.line(id)
		if slices.Contains(changed, id) || m.table.path != "" && g.path(id) != m.path(id) || m.table.ids != "" && !slices.Equal(line, before) {
			n.version++
			g.rows[id] = n
		}
	}
	for id, leaf := range g.leaves {
		_, stays := m.leaves[id]
		path, ids := m.leafColumns(g, leaf, 0)
		// A row above that moves moves the leaf, even if both moves of a circle cancel out.
		line, _ := g.line(leaf.parent)
		changes := slices.ContainsFunc(line, func(at int) bool {
			path, ids := m.leafColumns(g, node{parent: at}, 0)
			before, idsBefore := m.leafColumns(m.forest, node{parent: at}, 0)
			return path != before || ids != idsBefore
		})
		if above := m.rows[leaf.parent]; above.dead { // what is restored gives its leaves a path, but for what stays a root row
			changes = g.byIDs || !g.isRoot(leaf.parent) || above.name != "" || above.parent != 0
		}
		if stays && changes && path+ids != "" {
			leaf.version++
			g.leaves[id] = leaf
		}
	}
	return s
}

// topmost drops what lies below others.
func topmost(paths []string) (kept []string) {
	for _, p := range paths {
		if !slices.ContainsFunc(paths, func(other string) bool { return strings.HasPrefix(p, other+"/") }) && !slices.Contains(kept, p) {
			kept = append(kept, p)
		}
	}
	return kept
}

// toldPath checks the paths that a struct has.
func (m *machine) toldPath(f forest, id int, row any) {
	x := m.table
	if x.path != "" && x.get(row, x.path) != f.form.of(f.path(id)) || x.ids != "" && x.get(row, x.ids) != x.idsForm.of(m.idPath(id)) {
		m.Fatalf("the struct says %+v, the row is at %q, %q", row, f.path(id), m.idPath(id))
	}
	if x.level != "" && fmt.Sprint(reflect.Indirect(reflect.ValueOf(x.get(row, x.level)))) != fmt.Sprint(m.level(f, id)) {
		m.Fatalf("the struct says %+v, and the row is %d deep", row, m.level(f, id))
	}
}

// idPath is the path of ids of a live row.
func (m *machine) idPath(id int) (path string) {
	line, _ := m.line(id)
	for _, at := range line {
		path += "/" + m.table.text(m.keys[at])
	}
	return path
}
