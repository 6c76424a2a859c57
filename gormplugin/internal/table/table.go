// Package table knows the models that are registered, their rows, and where these are.
//
// A [Catalogue] has the guarded tables. A [Table] knows which columns say where a row is, and a
// [Node] is a row reduced to these. The package reads rows by their keys, everything above them
// ([Table.Rows]), and subtrees, which are ranges of the index over tree and path, all by statements
// of the plugin's own ([Direct]). A [Record] is a row that the caller hands to Create.
//
// Nothing here takes a path lock, or decides what a write does.
package table

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Table is a guarded table.
type Table struct {
	plan.Shape
	Dialect *dialect.Dialect
	Schema  *schema.Schema
	Key     *schema.Field
	Parent  *schema.Field
	Name    *schema.Field // nil if the places of rows follow from their ids alone
	Tree    *schema.Field // nil for a leaf, and where all rows are in one tree
	// described has the names of the columns, and what the tags say of them.
	described treetable.Table
	// Path is the column that says where a row is, and from which its locks follow: the path of
	// names or, where there is none, that of ids. Of a leaf it is the path of names, and optional.
	Path *schema.Field
	// IDs is the column of a path of ids that stands beside a path of names, or of a leaf's;
	// optional.
	IDs     *schema.Field
	Version *schema.Field // optional
	Fence   *schema.Field // optional
	// Following are the columns whose values follow from the row's place.
	Following []Following
	// told is the field of a leaf, no column, that gets its path; optional.
	told *schema.Field
	// Deletion holds the columns that mark a row as deleted, if rows are deleted softly.
	Deletion []*schema.Field
	// plainMark is set if that is a plain column, by which GORM hides nothing, and when is what
	// it holds in deleted rows, "" for all but NULL and the zero value.
	plainMark         bool
	when, whenLiteral string
	// types are the names of the columns' types, by column, once they are known.
	types atomic.Pointer[map[string]string]
	// zeroKeys are the values, in plain form, of keys that no row has.
	zeroKeys []any
	// top is what the parent column holds, in plain form, of rows at the top; nil for NULL or zero.
	top any
	// Above is the table that the parents are in: the table itself, or a leaf's other one.
	Above *Table
	// LeafPaths are the path columns of a leaf, and Leaves the leaves below a table that have some.
	LeafPaths []LeafPath
	Leaves    []*Table

	// index is what is known of the index over tree and path, or of a leaf's over its parent.
	index pathIndex
	// LearnedChildrenFirst is set once a foreign key has turned out to want rows deleted from the
	// leaves upwards.
	LearnedChildrenFirst atomic.Bool
	// Cascades is set if the model says ON DELETE CASCADE of the parent.
	Cascades bool

	ancestry ancestry
	// recall is the context key of what a request has read of its trees.
	recall recallKey
	// columns are those that say where a row is, and List is how a SELECT names them.
	columns []*schema.Field
	List    clause.Expression
	// Alive is the condition that a row is not deleted softly, and Seen that GORM does not hide it
	// as deleted.
	Alive, Seen clause.Expression
	// ClausesOfDelete are the clauses that column types add to a DELETE, apart from the marks of
	// deletion.
	ClausesOfDelete []clause.Interface
}

// setAbove sets the table that the parents are in.
func (t *Table) setAbove(above *Table) {
	t.Above, t.Shape.Above, t.IsLeaf = above, &above.Shape, above != t
}

// Fresh returns a new row of the model.
func (t *Table) Fresh() any { return reflect.New(t.Schema.ModelType).Interface() }

// Node is a row reduced to the columns that say where it is.
type Node = plan.Node

// scan reads one row through the model's fields, which know their serializers and types. With a
// locked row comes the isolation level, with a surveyed one whether the statement hits it. What the
// statement selects besides comes last, and goes to more.
func (t *Table) scan(ctx context.Context, rows *sql.Rows, locked, surveyed bool, more ...any) (*Node, error) {
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
	if err := rows.Scan(append(values, more...)...); err != nil {
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
		value, err = t.ValueIn(ctx, row, f)
		return value
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
	if n.Path = t.PathForm.Own(path, last); t.IDs != nil {
		n.IDs = t.IDsForm.Own(ids, plan.IDText(n.ID))
	}
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
