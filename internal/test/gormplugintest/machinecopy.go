package gormplugintest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
	"pgregory.net/rapid"
)

// copied copies a subtree, with its leaves at times.
func (m *machine) copied() statement {
	x, g := m.table, m.clone()
	source, parent, name := pick(m, m.live(), "source"), m.parentOf(), ""
	if rapid.Bool().Draw(m.T, "renamed") {
		name = m.name()
	}
	s := statement{what: fmt.Sprintf("copy %v below %v as %q", m.paths([]int{source}), m.paths([]int{parent}), name)}
	if !x.copies {
		s.reasons = append(s.reasons, gormplugin.ErrUnsupported)
	}
	var options []gormplugin.CopyOption
	if name != "" {
		options = append(options, gormplugin.CopyAs(name))
	}
	if m.rarely(3, "from one snapshot") {
		options = append(options, gormplugin.SnapshotSource())
	}
	if x.copies {
		options = append(options, x.keys(m.id())...)
	}
	leaves := x.leaf != nil && rapid.Bool().Draw(m.T, "with leaves")
	if leaves {
		options = append(options, gormplugin.CopyLeaves(reflect.New(reflect.TypeOf(x.leaf)).Interface(), nil))
	}
	tree := m.rows[source].tree
	if parent != 0 {
		tree = m.rows[parent].tree
	}
	fresh := make(map[int]int)
	for _, id := range m.below(source) {
		fresh[id] = m.id()
	}
	for id, made := range fresh {
		n := m.rows[id]
		n.tree, n.version, n.parent = tree, 0, fresh[n.parent]
		if id == source {
			if n.parent = parent; name != "" {
				n.name = name
			}
			if n.name == "" {
				s.reasons = append(s.reasons, pathlock.ErrInvalidPath, gormplugin.ErrMisplaced, gormplugin.ErrUnsupported)
			}
		}
		g.rows[made] = n
	}
	if leaves {
		for _, leaf := range m.leaves {
			if made, ok := fresh[leaf.parent]; ok {
				leaf.parent, leaf.version = made, 0
				g.leaves[m.id()] = leaf
			}
		}
	}
	s = m.placed(g, []int{fresh[source]}, s)
	if slices.Contains(s.reasons, gormplugin.ErrRootRow) {
		s.reasons = append(s.reasons, gormplugin.ErrUnsupported)
	}
	made, to := x.new(), m.destination(source, parent)
	s.run = func(db *gorm.DB) error {
		rows, err := gormplugin.Copy(db, made, m.keys[source], to, options...)
		if err == nil && rows != int64(len(fresh)) {
			return fmt.Errorf("%w: %d, want %d", errCount, rows, len(fresh))
		}
		return err
	}
	s.told = func(f forest) { m.toldPath(f, fresh[source], made) }
	return s
}
