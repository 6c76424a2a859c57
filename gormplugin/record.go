package gormplugin

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// record is a row as the caller hands it to Create: a struct of the model, or a map.
type record struct {
	ctx   context.Context
	table *table
	row   reflect.Value  // a struct
	pairs map[string]any // or a map, by column or field name
}

// get returns a column's value in plain form, nil where it is NULL, a zero value or not stated.
func (r record) get(f *schema.Field) (any, error) {
	var value any
	var err error
	if r.pairs == nil {
		held, isZero := f.ValueOf(r.ctx, r.row)
		if !isZero {
			return plain(held)
		}
	} else {
		stated, ok := r.pairs[f.DBName]
		if !ok {
			stated = r.pairs[f.Name]
		}
		if value, err = r.table.convert(r.ctx, f, stated); err != nil || value != nil && !reflect.ValueOf(value).IsZero() {
			return value, err
		}
	}
	if f.PrimaryKey || f.DefaultValueInterface == nil {
		return nil, nil
	}
	return plain(f.DefaultValueInterface)
}

// set gives a column a value.
func (r record) set(f *schema.Field, value any) error {
	if r.pairs == nil {
		return f.Set(r.ctx, r.row, value)
	}
	delete(r.pairs, f.Name)
	r.pairs[f.DBName] = value
	return nil
}

// states reports whether the caller has given a column a value.
func (r record) states(f *schema.Field) bool {
	if r.pairs == nil {
		_, isZero := f.ValueOf(r.ctx, r.row)
		return !isZero
	}
	_, byColumn := r.pairs[f.DBName]
	_, byField := r.pairs[f.Name]
	return byColumn || byField
}

// settle gives a column that the caller has not given a value the one that the row is planned with,
// so that no default of the database's takes its place.
func (r record) settle(f *schema.Field) error {
	if r.states(f) {
		return nil
	}
	value, err := r.get(f)
	switch {
	case err != nil:
		return err
	case value != nil:
		return r.set(f, value)
	case f.HasDefaultValue && !strings.EqualFold(f.DefaultValue, "NULL"):
		return r.table.unsupported("a new row has to state its %q: what the database would fill in is not known before", f.DBName)
	case r.pairs != nil:
		return r.set(f, reflect.Zero(f.FieldType).Interface())
	}
	return nil
}

// nodeIn returns what the record says of its place in the tree.
func (t *table) nodeIn(r record) (*node, error) {
	n := new(node)
	for _, part := range []struct {
		field *schema.Field
		value *any
	}{{t.key, &n.id}, {t.parent, &n.parent}, {t.tree, &n.tree}} {
		if part.field == nil {
			continue
		}
		value, err := r.get(part.field)
		if err != nil {
			return nil, err
		}
		*part.value = value
	}
	n.parent = t.parentOrNil(n.parent)
	for _, part := range []struct {
		field *schema.Field
		value *string
	}{{t.label, &n.name}, {t.path, &n.path}, {t.ids, &n.ids}} {
		if part.field == nil {
			continue
		}
		value, err := r.get(part.field)
		if err != nil {
			return nil, err
		}
		text, ok := textOf(value)
		if !ok && value != nil {
			return nil, t.unsupported("the column %q needs a text, not a %T", part.field.DBName, value)
		}
		*part.value = text
	}
	for _, f := range t.deletion {
		if mark, err := r.get(f); err != nil || mark != nil {
			return nil, t.unsupported("a row cannot be created as a deleted one: Create it and Delete it")
		}
	}
	return n, nil
}

// textOf returns a plain value as a text.
func textOf(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bytes:
		return string(v), true
	default:
		return "", false
	}
}

// recordsOf returns the rows that a Create is to insert.
func (t *table) recordsOf(stmt *gorm.Statement) ([]record, error) {
	var records []record
	var collect func(v reflect.Value) error
	collect = func(v reflect.Value) error {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		switch v.Kind() {
		case reflect.Struct:
			if !v.CanAddr() {
				return fmt.Errorf("%w: Create needs a pointer", gorm.ErrInvalidValue)
			}
			records = append(records, record{ctx: stmt.Context, table: t, row: v})
		case reflect.Map:
			pairs, ok := v.Interface().(map[string]any)
			if !ok {
				return gorm.ErrInvalidData
			}
			t.rename(pairs)
			records = append(records, record{ctx: stmt.Context, table: t, pairs: pairs})
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				if err := collect(v.Index(i)); err != nil {
					return err
				}
			}
		default:
			return gorm.ErrInvalidData
		}
		return nil
	}
	return records, collect(reflect.ValueOf(stmt.Dest))
}

// rename gives the columns in a map their own names, where they are named in another way that GORM
// or the database understands.
func (t *table) rename(pairs map[string]any) {
	for name, value := range pairs {
		if f := t.columnNamed(name); f != nil && f.DBName != "" && name != f.DBName && name != f.Name {
			delete(pairs, name)
			pairs[f.DBName] = value
		}
	}
}
