package write

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// maxRanges bounds how many subtrees one statement covers: each is a range of the path index, and a
// branch of the new value.
const maxRanges = 100

// checkSubtrees looks below the rows that move, which are locked. It reports whether there is
// anything, and refuses moves by which the path of a descendant would become longer than its
// column, or the tree too deep, before anything is written.
func (s *statement) checkSubtrees(moves []plan.Move) (descend bool, err error) {
	if s.Table.IsLeaf || !slices.ContainsFunc(moves, plan.Move.Rewrites) {
		return false, nil
	}
	moves = lowestFirst(moves)
	tops, at := make([]*table.Node, len(moves)), make(map[plan.Spot]plan.Move, len(moves))
	for i, m := range moves {
		tops[i], at[plan.Spot{Tree: m.Tree, Path: m.Node.Path}] = m.Node, m
	}
	slices.Reverse(tops) // the highest are the likeliest to have rows below
	if descend, err := s.anyBelow(tops); err != nil || !descend {
		return false, err
	}
	for chunk := range slices.Chunk(moves, maxRanges) {
		if err := s.checkRoom(chunk, at); err != nil {
			return true, err
		}
	}
	return true, nil
}

// anyBelow reports whether any live row hangs below rows that are locked. It looks up the children
// by their parents, below which nobody else can write meanwhile. A range of the index over the
// paths would touch their neighbours.
func (s *statement) anyBelow(above []*table.Node) (bool, error) {
	t := s.Table
	if s.childless {
		return false, nil
	}
	for chunk := range slices.Chunk(above, table.MaxPlaceholders/2) {
		var found bool
		var err error
		if s.Dialect.MisjudgesLists {
			d := t.Direct(s.DB)
			addEachBelow(t, d, chunk)
			err = d.Query(func(*sql.Rows) error {
				found = true
				return nil
			})
		} else {
			var rows []*table.Node
			rows, err = t.Read(s.DB, s.childOf(chunk))
			found = len(rows) > 0
		}
		if err != nil {
			return false, fmt.Errorf("gormplugin: looking below rows of %s: %w", t.TableName, err)
		}
		if found {
			return true, nil
		}
	}
	return false, nil
}

// childOf selects a live row below one of the given ones.
func (s *statement) childOf(above []*table.Node) table.Selection {
	var trees []any
	for _, n := range above {
		if !slices.Contains(trees, n.Tree) {
			trees = append(trees, n.Tree)
		}
	}
	child := table.Selection{
		Where: clause.And(s.Table.InTree(trees...), table.OneOf(s.Table.Parent, valuesOf(above, idOf))),
		Ends:  []clause.Expression{clause.Expr{SQL: "LIMIT 1"}},
	}
	if s.Asserts {
		child.Lock = s.Dialect.Newest
	}
	return child
}

// addEachBelow does the same for a planner that, without statistics, takes a list of parents for
// most of the table, and reads the whole tree once for every list. The inner LIMIT forces it to
// look up each row's children.
func addEachBelow(t *table.Table, d *table.Direct, above []*table.Node) {
	name := clause.Table{Name: t.TableName}
	of := func(alias string, f *schema.Field) clause.Column { return clause.Column{Table: alias, Name: f.DBName} }
	inTree := clause.Expr{SQL: "1 = 1"}
	if t.Tree != nil {
		inTree = clause.Expr{SQL: "? = ?", Vars: []any{of("child", t.Tree), of("above", t.Tree)}}
	}
	d.Add("SELECT 1 FROM ? AS above CROSS JOIN LATERAL (SELECT 1 FROM ? AS child WHERE ? AND ? = ? AND ? LIMIT 1) AS below WHERE ? LIMIT 1",
		name, name, inTree, of("child", t.Parent), of("above", t.Key), table.Under("child", t.AlsoWhere(t.Alive)),
		t.KeyIn(of("above", t.Key), valuesOf(above, idOf)))
}

// checkRoom looks below some of the rows that move for a row that would not fit. A row goes with
// the lowest one of all moves that it lies below, and one that moves itself has been checked.
func (s *statement) checkRoom(some []plan.Move, all map[plan.Spot]plan.Move) error {
	t, near := s.Table, table.Selection{Where: misfits(s.Table, some)}
	if near.Where == nil {
		return nil
	}
	if s.Asserts {
		near.Lock = s.Dialect.Newest
	}
	if len(all) == 1 {
		near.Ends = []clause.Expression{clause.Expr{SQL: "LIMIT 1"}}
	}
	rows, err := t.ReadRanges(s.DB, near)
	for _, n := range rows {
		at := plan.Spot{Tree: n.Tree, Path: n.Path}
		if _, moves := all[at]; moves {
			continue
		}
		for above := range at.Above() {
			if m, moves := all[above]; moves {
				err = cmp.Or(err, t.CheckBelow(m, n))
				break
			}
		}
	}
	return err
}

// misfits is the condition that a row lies below a move, and would not fit there; nil if all would.
// If a move is below another one, the rows below the lower one may be among those of the upper
// one.
func misfits(t *table.Table, moves []plan.Move) clause.Expression {
	var ranges, found []clause.Expression
	for _, m := range moves {
		if conditions := tight(t, m); len(conditions) > 0 {
			below := t.Below(m.Tree, m.Node.Path)
			ranges, found = append(ranges, below), append(found, clause.And(below, table.AnyOf(conditions)))
		}
	}
	switch len(found) {
	case 0:
		return nil
	case 1:
		return found[0]
	default:
		return clause.And(table.AnyOf(ranges), table.AnyOf(found))
	}
}

// tight are the conditions under which a row below a moving one would not fit.
func tight(t *table.Table, m plan.Move) (conditions []clause.Expression) {
	for i, of := range []struct {
		column *schema.Field
		room   plan.Room
	}{{t.Path, t.PathRoom}, {t.IDs, t.IDsRoom}} {
		if longer := m.Longer()[i]; longer > 0 && of.room.Size > 0 {
			column, room := table.Column(of.column), of.room.Size-longer
			conditions = append(conditions, clause.Expr{
				SQL:  "(" + t.Dialect.Bytes + "(?) > ? AND " + t.Dialect.Length + "(?) > ?)",
				Vars: []any{column, room, column, room},
			})
		}
	}
	if deeper := m.Deeper(); deeper > 0 {
		conditions = append(conditions, clause.Expr{SQL: "? > ?", Vars: []any{t.CountSeparators(), t.MaxDepth - deeper + t.PathForm.Separators()}})
	}
	return conditions
}
