package write

import (
	"reflect"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm/schema"
)

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
