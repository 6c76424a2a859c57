package table

import (
	"context"
	"database/sql/driver"
	"reflect"
	"slices"

	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// A row without a parent has NULL in its parent column, or the zero value of the column's type: 0,
// "", a nil UUID. No row has that as its key, since GORM takes such a key for none. Reads treat
// both alike. Writes use what [Table.NoParent] returns, whatever the caller has stated.

// isNoParent reports whether the parent column's value, in plain form, is the id of no row.
func (t *Table) isNoParent(value any) bool {
	return treetable.NoParent(value) || slices.Contains(t.zeroKeys, value)
}

// findZeroKeys notes the plain forms of the zero values of the key's and the parent's type: a type
// of the caller's may have a form of its own.
func (t *Table) findZeroKeys() {
	for _, f := range []*schema.Field{t.Parent, t.Above.Key} {
		if zero, err := Plain(reflect.Zero(f.IndirectFieldType).Interface()); err == nil && zero != nil {
			t.zeroKeys = append(t.zeroKeys, zero)
		}
	}
}

// ParentOrNil returns the parent that a plain value of the parent column means, nil for none.
func (t *Table) ParentOrNil(value any) any {
	if t.isNoParent(value) {
		return nil
	}
	return value
}

// NoParent is what is written to the parent column of a row without a parent: NULL where the field
// can hold it, and the zero value otherwise.
func (t *Table) NoParent() any {
	f := t.Parent
	if f.NotNull {
		zero := reflect.Zero(t.Above.Key.IndirectFieldType)
		if zero.Kind() == reflect.Slice {
			zero = reflect.MakeSlice(zero.Type(), 0, 0)
		}
		return zero.Interface()
	}
	if holdsNull(f) {
		return nil
	}
	return reflect.Zero(f.FieldType).Interface()
}

// holdsNull reports whether a field can hold NULL.
func holdsNull(f *schema.Field) bool {
	zero := reflect.Zero(f.FieldType)
	switch zero.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Interface:
		return true
	}
	valuer, ok := zero.Interface().(driver.Valuer)
	if !ok {
		return false
	}
	value, err := valuer.Value()
	return err == nil && value == nil
}

// ClearParents gives the model's rows to which an UPDATE has just assigned a zero parent the value
// of [Table.NoParent].
func (t *Table) ClearParents(ctx context.Context, rows reflect.Value) error {
	none := t.NoParent()
	return t.EachRow(rows, func(row reflect.Value) error { return SetAnew(ctx, t.Parent, row, none) })
}
