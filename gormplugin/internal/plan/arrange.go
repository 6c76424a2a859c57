package plan

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// An arrangement may move rows below each other's subtrees, in any order. So a row's new place
// depends on every move above its new parent, however far up.

// about says which row of an arrangement an error is about.
func (u *updating) about(n *Node, err error) error {
	if _, said := errors.AsType[*fault.RowError](err); said || u.Change.Parents == nil {
		return err
	}
	return &fault.RowError{Table: u.shape.TableName, ID: n.ID, Err: err}
}

// affectedAbove returns the lowest of the affected rows that the change leaves above one, nil if
// there is none.
func (u *updating) affectedAbove(n *Node) *Node {
	n = u.Parents[u.Change.ParentOf(n)]
	if n == nil || u.affected[n.ID] != nil {
		return n
	}
	return u.upper(n)
}

// upper returns the lowest of the affected rows above one that is not affected itself.
func (u *updating) upper(n *Node) *Node {
	for above := range (Spot{n.Tree, n.Path}).Above() {
		if upper := u.at[above]; upper != nil {
			return upper
		}
	}
	return nil
}

// carried returns a row above others with the paths that it has after the change, which may move
// the row, or one above it. The error is a [*fault.PathChangedError] where the two paths of the row
// disagree about what is above it, because the rows were read one after another.
func (u *updating) carried(n *Node, depth int) (*Node, error) {
	if u.affected[n.ID] != nil {
		return u.after(n, depth+1)
	}
	upper := u.upper(n)
	if upper == nil {
		return n, nil
	}
	after, err := u.after(upper, depth+1)
	if err != nil || after.Path == upper.Path && after.IDs == upper.IDs {
		return n, err
	}
	moved := *n
	moved.Path = after.Path + n.Path[len(upper.Path):]
	if u.shape.BothPaths {
		rest, ok := strings.CutPrefix(n.IDs, upper.IDs)
		if !ok {
			return nil, &fault.PathChangedError{Table: u.shape.TableName, ID: n.ID, Planned: n.IDs}
		}
		moved.IDs = after.IDs + rest
	}
	return &moved, nil
}

// Crosses reports whether rows move to a parent, or to the top, that other rows leave. Only then
// can the new place of a row, or of one below it, still be another row's while the statements run:
// at the uppermost name of such a place, one row arrives and another one leaves.
func (x *Effect) Crosses() bool {
	left := make(map[any]bool)
	for _, m := range x.Moves {
		if m.After.Parent != m.Parent {
			left[m.Parent] = true
		}
	}
	return slices.ContainsFunc(x.Moves, func(m Move) bool { return m.After.Parent != m.Parent && left[m.After.Parent] })
}

// Aside divides each move in two: to a place where no row can be, because no name contains a slash,
// and from there to the new one. The first move does not change paths of ids.
func Aside(moves []Move) (there, back []Move) {
	for i, m := range moves {
		away := *m.Node
		away.Name = "/" + strconv.FormatInt(int64(i), 36)
		away.Path = "/" + away.Name
		onward := m
		onward.Node = &away
		onward.SamePaths = !m.Rewrites()
		m.After, m.SamePaths = &away, true
		there, back = append(there, m), append(back, onward)
	}
	return there, back
}
