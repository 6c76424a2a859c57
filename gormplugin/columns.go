package gormplugin

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// columnNamed returns the field that a column's name in a map or a clause means, as the database sees it: in
// any letter case, with the table before it, in quotes. GORM passes on what it does not know.
func (t *table) columnNamed(name string) *schema.Field {
	if f := t.schema.LookUpField(name); f != nil {
		return f
	}
	name = unquoted(baseName(name))
	for _, f := range t.schema.Fields {
		if f.DBName != "" && strings.EqualFold(f.DBName, name) {
			return f
		}
	}
	return nil
}

// convert returns the plain form that a value will have once it has been written to a column, whatever its type: numbers
// from JSON are floats, ids from URLs are texts.
func (t *table) convert(ctx context.Context, f *schema.Field, value any) (any, error) {
	switch value.(type) {
	case nil:
		return nil, nil
	case []any:
		return nil, t.unsupported("%q can be set to a value only, not to an expression", f.DBName)
	}
	if _, err := plain(value); err != nil {
		return nil, t.unsupported("%q can be set to a value only: %v", f.DBName, err)
	}
	row := reflect.New(t.schema.ModelType).Elem()
	if err := f.Set(ctx, row, value); err != nil {
		return nil, t.unsupported("%q cannot hold a %T", f.DBName, value)
	}
	held, _ := f.ValueOf(ctx, row)
	return plain(held)
}

// isWritten reports whether a statement that creates rows writes a column, after its Select and Omit.
func isWritten(stmt *gorm.Statement, f *schema.Field) bool {
	selected, restricted := stmt.SelectAndOmitColumns(true, false)
	written, stated := selected[f.DBName]
	return stated && written || !stated && !restricted
}

// placeColumns are the columns that a row's place in the tree is in, without the key.
func (t *table) placeColumns() []*schema.Field {
	return slices.DeleteFunc([]*schema.Field{t.label, t.parent, t.tree, t.path, t.ids, t.fence}, func(f *schema.Field) bool { return f == nil })
}

// selectPlace has a statement that creates rows write the columns of their place, whatever it selects and omits, and
// returns what undoes that. A name or a parent that the rows state and the statement leaves out has no good reading.
func (t *table) selectPlace(stmt *gorm.Statement, rows []*arrival) (undo func(), err error) {
	if len(stmt.Selects) == 0 && len(stmt.Omits) == 0 {
		return nil, nil
	}
	selects, omits := stmt.Selects, stmt.Omits
	undo = func() { stmt.Selects, stmt.Omits = selects, omits }
	for _, f := range t.placeColumns() {
		if isWritten(stmt, f) {
			continue
		}
		if f == t.label || f == t.parent {
			for _, row := range rows {
				if value, err := row.get(f); err != nil || value != nil {
					return undo, t.unsupported("a new row's %q cannot be left out by Select or Omit", f.DBName)
				}
			}
		}
		stmt.Omits = slices.DeleteFunc(slices.Clone(stmt.Omits), func(name string) bool { return t.columnNamed(name) == f })
		if len(stmt.Selects) > 0 {
			stmt.Selects = append(slices.Clone(stmt.Selects), f.DBName)
		}
		if !isWritten(stmt, f) {
			return undo, t.unsupported("a new row's %q cannot be left out by Select or Omit", f.DBName)
		}
	}
	return undo, nil
}
