package write

import (
	"reflect"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm/schema"
)

// complete adds what follows from the new places, versions and fences to what the statement assigns
// to a number of rows, some of which move.
func complete(t *table.Table, a *assignment, moves []plan.Move, rows int, fence uint64) {
	each := func(f *schema.Field, value func(plan.Move) any) {
		var ids, values []any
		for _, m := range moves {
			ids, values = append(ids, m.ID), append(values, value(m))
		}
		a.replace(t, f, ids, values, len(moves) < rows)
	}
	if t.Tree != nil {
		a.drop(t.Tree)
	}
	if a.ByPath {
		each(t.Parent, func(m plan.Move) any { return t.ParentValue(m.After.Parent) })
	}
	for _, f := range t.Following {
		each(f.Field, func(m plan.Move) any { return f.Of(m.After) })
	}
	if t.Version != nil && len(moves) > 0 {
		each(t.Version, func(m plan.Move) any { return m.Version + 1 })
	}
	switch {
	case t.Fence == nil:
	case fence == 0: // a fence does not fall: the column keeps the last one
		a.drop(t.Fence)
	default:
		each(t.Fence, func(plan.Move) any { return fence })
	}
}

// writeBack writes into the caller's structs the paths and versions of rows that have moved, as
// GORM does with all other columns, and if stayed is set those of rows that stay where they are:
// what the structs state may be outdated.
func (s *statement) writeBack(x *plan.Effect, stayed bool) error {
	t, stmt, now := s.Table, s.DB.Statement, x.After(stayed)
	return t.EachRow(stmt.ReflectValue, func(row reflect.Value) error {
		id, err := t.ValueIn(stmt.Context, row, t.Key)
		n := now[id]
		if err == nil && n != nil && x.Change.ByPath {
			err = table.SetAnew(stmt.Context, t.Parent, row, t.ParentValue(n.Parent))
		}
		if err != nil || n == nil {
			return err
		}
		if t.Version != nil && (!stayed || x.StatesOutdated()) {
			if err := table.SetAnew(stmt.Context, t.Version, row, n.Version); err != nil {
				return err
			}
		}
		return t.TellPlace(stmt.Context, row, n)
	})
}

// reportPlace writes into the caller's structs where the rows of an operation are after it.
func (s *statement) reportPlace(x *plan.Effect) error {
	t, op, ctx := s.Table, s.op, s.DB.Statement.Context
	if op == nil || !op.Into.IsValid() {
		return nil
	}
	now := x.After(true)
	return t.EachRow(op.Into, func(row reflect.Value) (err error) {
		id := op.ID
		if op.Arranged != nil {
			id, err = t.ValueIn(ctx, row, t.Key)
		}
		n := now[id]
		if err != nil || n == nil {
			return err
		}
		for _, part := range []struct {
			field *schema.Field
			value any
		}{{t.Key, n.ID}, {t.Tree, n.Tree}, {t.Parent, n.Parent}, {t.Name, n.Name}, {t.Version, n.Version}} {
			if part.field == nil {
				continue
			}
			if err := table.SetAnew(ctx, part.field, row, part.value); err != nil {
				return err
			}
		}
		return t.TellPlace(ctx, row, n)
	})
}
