package plan

import (
	"errors"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

// An arrangement moves rows below each other's subtrees, in whatever order they are given. So where
// a row will be follows from all that moves above its new parent, however far up.

// about says which row of an arrangement an error is about.
func (u *updating) about(n *Node, err error) error {
	if _, said := errors.AsType[*fault.RowError](err); said || u.change.Parents == nil {
		return err
	}
	return &fault.RowError{Table: u.shape.TableName, ID: n.ID, Err: err}
}

// carried returns a row above others with the paths that it has after the change, which may move
// the row, or one above it. The error is a [*fault.PathChangedError] where the two paths of the row
// disagree about what is above it, because the rows were read one after another.
func (u *updating) carried(n *Node, depth int) (*Node, error) {
	if u.affected[n.ID] != nil {
		return u.after(n, depth+1)
	}
	for end := strings.LastIndexByte(n.Path, '/'); end > 0; end = strings.LastIndexByte(n.Path[:end], '/') {
		upper := u.at[spot{n.Tree, n.Path[:end]}]
		if upper == nil {
			continue
		}
		after, err := u.after(upper, depth+1)
		if err != nil || after.Path == upper.Path && after.IDs == upper.IDs {
			return n, err
		}
		moved := *n
		moved.Path = after.Path + n.Path[end:]
		if u.shape.BothPaths {
			rest, ok := strings.CutPrefix(n.IDs, upper.IDs)
			if !ok {
				return nil, &fault.PathChangedError{Table: u.shape.TableName, ID: n.ID, Planned: n.IDs}
			}
			moved.IDs = after.IDs + rest
		}
		return &moved, nil
	}
	return n, nil
}

// Crosses reports whether rows come to below a parent, or to the top, that others leave. Only then
// can a new place of a row, or of one below it, be one that another row still has while the
// statements run: at the uppermost name of such a place, one row comes and another one leaves.
func (x *Relocation) Crosses(c *Change) bool {
	left := make(map[any]bool)
	for _, m := range x.Moves {
		if c.ParentOf(m.Node) != m.Node.Parent {
			left[m.Node.Parent] = true
		}
	}
	for _, m := range x.Moves {
		if c.ParentOf(m.Node) != m.Node.Parent && left[c.ParentOf(m.Node)] {
			return true
		}
	}
	return false
}

// Aside divides moves in two: to places where no row can be, as no name has a slash in it, and from
// there to the new ones. The paths of ids of names do not change on the first way.
func Aside(moves []Move) (there, back []Move) {
	for i, m := range moves {
		away := *m.Node
		away.Name = "/" + strconv.FormatInt(int64(i), 36)
		away.Path = "/" + away.Name
		onward := m
		onward.Node = &away
		onward.SamePaths = !m.Rewrites()
		m.Path, m.IDs, m.SamePaths = away.Path, m.Node.IDs, true
		there, back = append(there, m), append(back, onward)
	}
	return there, back
}
