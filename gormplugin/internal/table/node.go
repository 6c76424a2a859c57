package table

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"

	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
)

// Node is a row reduced to the columns that say where it is.
type Node = plan.Node

// scan reads one row through the model's fields, which know their serializers and types. With a
// locked row comes the isolation level, with a surveyed one whether the statement hits it.
func (t *Table) scan(ctx context.Context, rows *sql.Rows, locked, surveyed bool) (*Node, error) {
	values := make([]any, len(t.columns), len(t.columns)+1)
	for i, f := range t.columns {
		values[i] = f.NewValuePool.Get()
		defer f.NewValuePool.Put(values[i])
	}
	live := true
	if len(t.Deletion) > 0 {
		values = append(values, &live)
	}
	var isolation string
	if locked && t.Dialect.Isolation != "" {
		values = append(values, &isolation)
	}
	var hit bool
	if surveyed {
		values = append(values, &hit)
	}
	if err := rows.Scan(values...); err != nil {
		return nil, fmt.Errorf("gormplugin: reading %s: %w", t.TableName, err)
	}
	if isolation != "" {
		if why := t.Dialect.Refuse(isolation); why != "" {
			return nil, fmt.Errorf("%w: a write to %s at %s", fault.ErrIsolation, t.TableName, why)
		}
	}
	row := reflect.New(t.Schema.ModelType).Elem()
	for i, f := range t.columns {
		if err := f.Set(ctx, row, values[i]); err != nil {
			return nil, fmt.Errorf("gormplugin: reading %s.%s: %w", t.TableName, f.DBName, err)
		}
	}
	n, err := t.nodeOf(ctx, row)
	n.Hit, n.Dead = hit, !live
	return n, err
}

// nodeOf returns what a struct of the model holds.
func (t *Table) nodeOf(ctx context.Context, row reflect.Value) (*Node, error) {
	n := new(Node)
	var err error
	get := func(f *schema.Field) any {
		if f == nil || err != nil {
			return nil
		}
		var value any
		value, _ = f.ValueOf(ctx, row)
		value, err = Plain(value)
		return t.Spell(f, value)
	}
	n.ID, n.Tree = get(t.Key), t.treeBy(get)
	n.Parent = t.ParentOrNil(get(t.Parent))
	if n.Name, _ = TextOf(get(t.Name)); t.Name == nil {
		n.Name = plan.IDText(n.ID)
	}
	path, _ := TextOf(get(t.Path))
	ids, _ := TextOf(get(t.IDs))
	last := n.Name
	if t.ByIDs {
		last = plan.IDText(n.ID)
	}
	n.Path, n.IDs = t.PathForm.Own(path, last), t.IDsForm.Own(ids, plan.IDText(n.ID))
	n.Version, _ = get(t.Version).(int64)
	n.Fence = get(t.Fence)
	return n, err
}

// Collect runs d, which selects the table's place columns. Where locked is set, the isolation level
// follows them; where surveyed is set, the column of a survey does.
func (t *Table) Collect(d *Direct, locked, surveyed bool) (nodes []*Node, err error) {
	var unreadable error
	err = d.Query(func(rows *sql.Rows) error {
		var n *Node
		n, unreadable = t.scan(d.Context, rows, locked, surveyed)
		nodes = append(nodes, n)
		return unreadable
	})
	switch {
	case err == nil:
		return nodes, nil
	case unreadable != nil:
		return nil, err // it says so itself
	default:
		return nil, fmt.Errorf("gormplugin: reading %s: %w", t.TableName, err)
	}
}
