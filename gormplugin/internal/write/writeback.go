package write

import (
	"cmp"
	"context"
	"maps"
	"reflect"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// complete adds what follows from the new places, versions and fences to what the statement assigns
// to a number of rows, some of which move.
func complete(t *table.Table, a *assignment, moves []plan.Move, rows int, fence uint64) {
	var ids, versions, fences []any
	for _, m := range moves {
		ids = append(ids, m.ID)
		versions = append(versions, m.Version+1)
		fences = append(fences, fence)
	}
	others := len(moves) < rows
	if t.Tree != nil {
		a.drop(t.Tree)
	}
	if a.ByPath {
		var parents []any
		for _, m := range moves {
			parents = append(parents, cmp.Or(a.ParentOf(m.Node), t.NoParentValue()))
		}
		a.replace(t, t.Parent, ids, parents, others)
	}
	for _, f := range t.Following {
		var values []any
		for _, m := range moves {
			values = append(values, f.Of(m.After()))
		}
		a.replace(t, f.Field, ids, values, others)
	}
	if t.Version != nil && len(ids) > 0 {
		a.replace(t, t.Version, ids, versions, others)
	}
	if t.Fence != nil {
		if fence == 0 {
			ids = nil // a fence does not fall: the column keeps the last one
		}
		a.replace(t, t.Fence, ids, fences, others)
	}
}

// writeBack writes into the caller's structs the paths and versions of rows that have moved, as
// GORM does with all other columns, and if stayed is set those of rows that stay where they are:
// what the structs state may be outdated.
func writeBack(t *table.Table, stmt *gorm.Statement, x *relocation, stayed bool) error {
	now := make(map[any]*table.Node, len(x.Moves))
	if stayed {
		maps.Copy(now, x.Live)
	}
	for _, m := range x.Moves {
		now[m.ID] = m.After()
	}
	return t.EachRow(stmt.ReflectValue, func(row reflect.Value) error {
		id, err := t.KeyOfRow(stmt.Context, row)
		n := now[id]
		if err == nil && n != nil && x.assignment.ByPath {
			err = table.SetAnew(stmt.Context, t.Parent, row, cmp.Or(x.assignment.ParentOf(n), t.NoParentValue()))
		}
		if err != nil || n == nil {
			return err
		}
		if t.Version != nil && (!stayed || x.hasOutdatedPath(t)) {
			if err := table.SetAnew(stmt.Context, t.Version, row, n.Version); err != nil {
				return err
			}
		}
		return t.TellPlace(stmt.Context, row, n)
	})
}

// reportPlace writes into the caller's structs where the rows of an operation are after it.
func reportPlace(ctx context.Context, t *table.Table, op *Operation, x *relocation) error {
	if op == nil || !op.Into.IsValid() {
		return nil
	}
	moved := make(map[any]plan.Move, len(x.Moves))
	for _, m := range x.Moves {
		moved[m.ID] = m
	}
	return t.EachRow(op.Into, func(row reflect.Value) (err error) {
		id := op.ID
		if op.Arranged != nil {
			id, err = t.KeyOfRow(ctx, row)
		}
		if err != nil || x.Live[id] == nil {
			return err
		}
		n := *x.Live[id]
		if m, ok := moved[id]; ok {
			n = *m.After()
		}
		n.Parent, n.Name = x.assignment.ParentOf(&n), x.assignment.NameOf(&n)
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
		return t.TellPlace(ctx, row, &n)
	})
}
