package table

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// ColumnNamed returns the field that a column's name in a map or a clause means to the database.
// The name may be in any letter case and in quotes, with the table before it. GORM passes on names
// that it does not know.
func (t *Table) ColumnNamed(name string) *schema.Field {
	if f := t.Schema.LookUpField(name); f != nil {
		return f
	}
	name = Unquoted(BaseName(name))
	for _, f := range t.Schema.Fields {
		if f.DBName != "" && strings.EqualFold(f.DBName, name) {
			return f
		}
	}
	return nil
}

// Convert returns the plain form that a value of any type will have once it has been written to a
// column: numbers from JSON are floats, ids from URLs are texts.
func (t *Table) Convert(ctx context.Context, f *schema.Field, value any) (any, error) {
	switch value.(type) {
	case nil:
		return nil, nil
	case clause.Expression, gorm.Valuer, *gorm.DB:
		return nil, t.Unsupported("%q can be set to a value only, not to an expression", f.DBName)
	}
	value, err := exactly(f, value)
	if err != nil {
		return nil, t.Unfit("%q can be set to a value only: %v", f.DBName, err)
	}
	row := reflect.New(t.Schema.ModelType).Elem()
	if err := f.Set(ctx, row, value); err != nil {
		return nil, t.Unfit("%q cannot hold %v, a %T", f.DBName, value, value)
	}
	return t.ValueIn(ctx, row, f)
}

// exactly returns the value in a type that GORM assigns to the field unchanged. GORM itself rounds
// floats, cuts integers to the size of the field, and reads no digits into a pointer to a number;
// into a pointer to a text, it writes a number as a character.
func exactly(f *schema.Field, value any) (any, error) {
	plain, err := Plain(value)
	if err != nil {
		return nil, err
	}
	_, isText := plain.(string)
	isNumber := reflect.ValueOf(plain).CanInt() || reflect.ValueOf(plain).CanUint()
	_, scans := reflect.New(f.IndirectFieldType).Interface().(sql.Scanner)
	of := reflect.Zero(f.IndirectFieldType)
	switch {
	case isNumber && (scans || of.Kind() == reflect.Bool):
		return plain, nil
	case isNumber && of.Kind() == reflect.String:
		return fmt.Sprint(plain), nil
	case scans || !isNumber && !isText:
		return value, nil
	case of.CanInt():
		plain, err = strconv.ParseInt(fmt.Sprint(plain), 10, of.Type().Bits())
	case of.CanUint():
		plain, err = strconv.ParseUint(fmt.Sprint(plain), 10, of.Type().Bits())
	default:
		return value, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the column cannot hold %v", value)
	}
	return plain, nil
}

// IsWritten reports whether a statement that creates rows writes a column, after its Select and
// Omit.
func IsWritten(stmt *gorm.Statement, f *schema.Field) bool {
	selected, restricted := stmt.SelectAndOmitColumns(true, false)
	written, stated := selected[f.DBName]
	return stated && written || !stated && !restricted
}

// PlaceColumns are the columns that hold a row's place in the tree, without the key.
func (t *Table) PlaceColumns() []*schema.Field {
	columns := []*schema.Field{t.Name, t.Parent, t.Tree, t.Fence}
	for _, f := range t.Following {
		columns = append(columns, f.Field)
	}
	return slices.DeleteFunc(columns, lacks)
}

// Owns reports whether a column decides where a row is, or whether it is in the tree at all.
func (t *Table) Owns(f *schema.Field) bool {
	return f == t.Key || slices.Contains(t.Deletion, f) || slices.Contains(t.PlaceColumns(), f)
}

// lacks reports whether a model does not have a field.
func lacks(f *schema.Field) bool { return f == nil }

// IsWritable refuses to change a column that GORM is told not to update: GORM would silently leave
// it out.
func (t *Table) IsWritable(f *schema.Field) error {
	if f.Updatable {
		return nil
	}
	return t.Unsupported("the model's tag `gorm:%q` forbids updates of %q", f.Tag.Get("gorm"), f.DBName)
}

// Unquoted returns a name without quotation marks around its parts.
func Unquoted(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("`\"[]", r) {
			return -1
		}
		return r
	}, strings.TrimSpace(name))
}

// BaseName returns a table's name without its schema.
func BaseName(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// schemaOf splits a table's name into its schema, nil if it states none, and the rest.
func schemaOf(table string) (schema any, name string) {
	name = BaseName(table)
	if len(name) == len(table) {
		return nil, name
	}
	return table[:len(table)-len(name)-1], name
}

// roomOf returns how many characters a column can hold, as far as the model says so.
func roomOf(f *schema.Field) plan.Room {
	if f == nil || f.DataType != schema.String {
		return plan.Room{}
	}
	return plan.Room{Column: f.DBName, Size: f.Size}
}

// If the model states no size, the plugin does not know how long a name or a path may be. The
// database then refuses what does not fit its column or, in PostgreSQL, an index, whose entries
// have 2704 bytes at most after compression.

// IsTooLong reports whether an error means that a name or a path of the table is too long.
func (t *Table) IsTooLong(err error) bool {
	if t.Dialect.TooLong == nil {
		return false
	}
	names, ok := t.Dialect.TooLong(err)
	if !ok || names == "" {
		return ok
	}
	return slices.ContainsFunc([]*schema.Field{t.Name, t.Path, t.IDs}, func(f *schema.Field) bool {
		return f != nil && f.DBName == names
	}) || slices.ContainsFunc(t.Leaves, func(leaf *Table) bool { return leaf.IsTooLong(err) })
}

// The sizes, in characters, of text columns whose fields state none, where the database needs one.
const (
	usualName = 255
	usualPath = 766
	// usualKey is what GORM gives a primary key that is a text.
	usualKey = 191
)

// limitTexts gives a size to texts whose fields state neither a size nor a type: the one that the
// dialector gives to all texts, if it does. With another size, GORM's own AutoMigrate would alter
// the column.
func (t *Table) limitTexts(d gorm.Dialector) {
	var every int
	_, _ = fmt.Sscanf(d.DataTypeOf(&schema.Field{DataType: schema.String}), "varchar(%d)", &every)
	for field, size := range map[*schema.Field]int{t.Name: usualName, t.Path: usualPath, t.IDs: usualPath, t.Tree: usualKey, t.Parent: usualKey} {
		if field != nil && field.DataType == schema.String && field.Size == 0 && field.TagSettings["TYPE"] == "" {
			field.Size = cmp.Or(every, size)
		}
	}
	// Keys of bytes would be longblob, which no index can hold either.
	for _, field := range []*schema.Field{t.Tree, t.Parent, t.Key} {
		if field != nil && field.DataType == schema.Bytes && field.Size == 0 && field.TagSettings["TYPE"] == "" {
			field.Size = usualKey
		}
	}
}
