package write

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// slot is the condition that a row is where the copy's top is to be.
func (e *Engine) slot(t *table.Table, x *copying) clause.Expression {
	if !t.IsLeaf() {
		return t.HasPath(x.After.Tree, x.To.Path)
	}
	return clause.And(clause.Eq{Column: table.Column(t.Parent), Value: x.After.Parent}, t.Exactly(table.Column(t.Name), x.After.Name))
}

// insertFrom runs an INSERT … SELECT of live rows of the table, called c in from, into the table,
// and returns their number. placed are the values that follow from the copy's place, values those
// of the caller.
func insertFrom(t *table.Table, db *gorm.DB, from, where clause.Expression, placed map[*schema.Field]any, values map[string]any, fence uint64) (int64, error) {
	columns, list := copiedColumns(t, db, placed, values, fence)
	placeholders := strings.Repeat(", ?", len(list))[len(", "):]
	d := t.Direct(db).Add("INSERT INTO ? (", clause.Table{Name: t.TableName}).Add(placeholders, columns...)
	d.Table, d.TableExpr = "c", nil
	d.Add(") SELECT "+placeholders, list...).Add(" FROM ? WHERE ?", from, t.Matching(where, false))
	rows, err := d.Exec()
	if err != nil {
		return 0, fmt.Errorf("gormplugin: copying rows of %s: %w", t.TableName, err)
	}
	return rows, nil
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
	if c, err := table.Plain(value); err == nil && c == nil {
		return none(f)
	}
	return clause.Expr{SQL: "COALESCE(?, ?)", Vars: []any{value, table.Column(f)}}
}

// none is NULL, of the type of a column.
func none(f *schema.Field) clause.Expression {
	return clause.Expr{SQL: "NULLIF(?, ?)", Vars: []any{table.Column(f), table.Column(f)}}
}
