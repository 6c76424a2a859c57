package gormplugin

import (
	"context"
	"reflect"

	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm/schema"
)

// reportPlace writes into the caller's struct where the row is after an update.
func reportPlace(e *statement.Errand, ctx context.Context, x *turn) error {
	if e == nil || !e.Into.IsValid() || x.hit.live[e.ID] == nil {
		return nil
	}
	t, n := x.table, *x.hit.live[e.ID]
	for _, m := range x.moves {
		if m.ID == e.ID {
			n.Path, n.IDs, n.Version = m.path, m.ids, m.Version+1
		}
	}
	n.Parent, n.Name = x.assignment.parentOf(&n), x.assignment.nameOf(&n)
	for _, part := range []struct {
		field *schema.Field
		value any
	}{{t.Key, n.ID}, {t.Tree, n.Tree}, {t.Parent, n.Parent}, {t.Name, n.Name}, {t.Version, n.Version}} {
		if part.field == nil {
			continue
		}
		// GORM assigns through a pointer that is there already, and that may well be one to the old
		// parent's own id.
		if place := part.field.ReflectValueOf(ctx, e.Into); place.Kind() == reflect.Pointer {
			place.SetZero()
		}
		if err := part.field.Set(ctx, e.Into, part.value); err != nil {
			return err
		}
	}
	if t.IsLeaf() {
		return t.Tell(ctx, e.Into, n.Path)
	}
	return t.SetPaths(table.Record{Ctx: ctx, Row: e.Into}, &n)
}
