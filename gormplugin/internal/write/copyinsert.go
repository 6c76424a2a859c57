package write

import (
	"crypto/rand"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// valuesOf lists a value of each copy.
func valuesOf(copies []*plan.Copied, value func(c *plan.Copied) any) []any {
	values := make([]any, len(copies))
	for i, c := range copies {
		values[i] = value(c)
	}
	return values
}

// keyOf and newKeyOf are the ids of a row that is copied and of its copy.
func keyOf(c *plan.Copied) any    { return c.Of.ID }
func newKeyOf(c *plan.Copied) any { return c.ID }

// insertCopies copies some rows to below rows that are there. It returns what it has written of
// their paths.
func (e *Engine) insertCopies(db *gorm.DB, st *Statement, t *table.Table, part []*plan.Copied, given map[string]any) (paths []any, err error) {
	standIn := rand.Text()[:12]
	for i, c := range part {
		if err := t.Settle(c, nil); err != nil {
			return nil, err
		}
		path := table.FirstWritten(t.PathForm, c.Path)
		if isApart(t) {
			path = t.PathForm.Print("/" + standIn + strconv.Itoa(i))
		}
		paths = append(paths, path)
	}
	ids := valuesOf(part, keyOf)
	placed := make(map[*schema.Field]any)
	place := func(f *schema.Field, values []any) {
		if f != nil {
			placed[f] = eachOf(t, f, ids, values)
		}
	}
	place(t.Parent, valuesOf(part, func(c *plan.Copied) any {
		if c.Parent == nil {
			return t.NoParent()
		}
		return c.Parent
	}))
	place(t.Path, paths)
	place(t.IDs, valuesOf(part, func(c *plan.Copied) any { return table.FirstWritten(t.IDsForm, c.IDs) }))
	if top := part[0]; top.Name != top.Of.Name {
		place(t.Name, []any{top.Name})
	}
	if t.Tree != nil {
		placed[t.Tree] = typed(part[0].Tree, t.Tree)
	}
	columns, list := copiedColumns(t, db, placed, given, st.Fence)
	placeholders := strings.Repeat(", ?", len(list))[len(", "):]
	d := t.Direct(db).Add("INSERT INTO ? (", clause.Table{Name: t.TableName}).Add(placeholders, columns...)
	d.Table, d.TableExpr = "c", nil
	d.Add(") SELECT "+placeholders, list...).Add(" FROM ? AS c "+e.Dialect.PrimaryKeyHint, clause.Table{Name: t.TableName})
	rows, err := d.Add(" WHERE ? AND ?", t.KeyIn(table.Column(t.Key), ids), t.Aside(t.Alive)).Exec()
	switch {
	case err != nil:
		return nil, fmt.Errorf("gormplugin: copying rows of %s: %w", t.TableName, err)
	case rows != int64(len(ids)):
		return nil, fault.Retry(fmt.Errorf("gormplugin: %d of %d rows of %s were there to be copied", rows, len(ids), t.TableName))
	}
	return paths, nil
}

// copiedColumns returns the columns that a copy writes, and the values that it writes there.
func copiedColumns(t *table.Table, db *gorm.DB, placed map[*schema.Field]any, values map[string]any, fence uint64) (columns, list []any) {
	given := make(map[*schema.Field]any, len(values))
	for name, value := range values {
		given[t.Schema.LookUpField(name)] = value
	}
	now := reflect.New(t.Schema.ModelType).Elem()
	for _, name := range t.Schema.DBNames {
		f := t.Schema.FieldsByDBName[name]
		decided, isOwn := placed[f]
		value, isGiven := given[f]
		switch {
		case !f.Creatable, f == t.Key && !isGiven:
			continue
		case isOwn:
			value = decided
		case isGiven:
			if _, isExpression := value.(clause.Expression); !isExpression {
				value = typed(value, f)
			}
		case f == t.Version:
			value = typed(0, f)
		case f == t.Fence:
			value = typed(fence, f)
		case f.AutoCreateTime > 0 || f.AutoUpdateTime > 0:
			if err := f.Set(db.Statement.Context, now, db.NowFunc()); err != nil {
				_ = db.AddError(err)
			}
			value, _ = f.ValueOf(db.Statement.Context, now)
			value = typed(value, f)
		default:
			value = table.Column(f)
		}
		columns, list = append(columns, clause.Column{Name: f.DBName}), append(list, value)
	}
	return columns, list
}

// typed is a value with the type of a column, which some databases would have to guess in a SELECT.
func typed(value any, f *schema.Field) clause.Expression {
	return clause.Expr{SQL: "CASE WHEN 1 = 1 THEN ? ELSE ? END", Vars: []any{value, table.Column(f)}}
}
