package fscktest

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// unsound returns what is wrong with rows. It shares no code with package fsck: it starts at the
// top and walks down.
func unsound(rows map[int]Node, idPath func(int) string) []string {
	var wrong []string
	children := make(map[int][]Node)
	for _, n := range rows {
		if _, ok := rows[n.Parent]; n.Parent != 0 && !ok {
			wrong = append(wrong, fmt.Sprintf("%d has no parent", n.ID))
		}
		children[n.Parent] = append(children[n.Parent], n)
	}
	seen := make(map[int]bool)
	taken := make(map[string]int)
	var walk func(n Node, path, ids string)
	walk = func(n Node, path, ids string) {
		seen[n.ID] = true
		if n.Name != "" || n.Parent != 0 {
			path += "/" + n.Name
			if _, err := pathlock.ParsePath(path); err != nil {
				wrong = append(wrong, fmt.Sprintf("%d: %v", n.ID, err))
			}
		}
		ids += "/" + idPath(n.ID)
		if n.Path != path {
			wrong = append(wrong, fmt.Sprintf("%d has path %q, not %q", n.ID, n.Path, path))
		}
		if n.IDPath != ids {
			wrong = append(wrong, fmt.Sprintf("%d has id path %q, not %q", n.ID, n.IDPath, ids))
		}
		slot := fmt.Sprint(n.Tree, path)
		if other, ok := taken[slot]; ok {
			wrong = append(wrong, fmt.Sprintf("%d and %d have path %q", other, n.ID, path))
		}
		taken[slot] = n.ID
		for _, child := range children[n.ID] {
			if child.Tree != n.Tree {
				wrong = append(wrong, fmt.Sprintf("%d is in another tree than %d", child.ID, n.ID))
			}
			walk(child, path, ids)
		}
	}
	tops, roots := make(map[int]int), make(map[int]bool)
	for _, top := range children[0] {
		walk(top, "", "")
		tops[top.Tree]++
		roots[top.Tree] = roots[top.Tree] || top.Name == ""
	}
	for tree, rooted := range roots {
		if rooted && tops[tree] > 1 {
			wrong = append(wrong, fmt.Sprintf("tree %d has a root row and %d further rows at the top", tree, tops[tree]-1))
		}
	}
	for id := range rows {
		if !seen[id] {
			wrong = append(wrong, fmt.Sprintf("%d cannot be reached from the top", id))
		}
	}
	slices.Sort(wrong)
	return wrong
}

// sound fails the test if the table is not sound.
func (w *world) sound(t interface {
	Helper()
	Errorf(string, ...any)
}, rows map[int]Node) {
	t.Helper()
	idPath := func(id int) string {
		for key, number := range w.derived {
			if number == id {
				return key
			}
		}
		return fmt.Sprint(w.key(id))
	}
	for _, wrong := range unsound(rows, idPath) {
		t.Errorf("unsound: %s", wrong)
	}
}
