package gormplugin

import (
	"context"
	"fmt"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// record is a row as the caller hands it to Create: a struct of the model, or a map.
type record struct {
	ctx   context.Context
	row   reflect.Value  // a struct
	pairs map[string]any // or a map, by column or field name
}

// get returns a column's value in plain form, nil where it is NULL, a zero value or not stated.
func (r record) get(f *schema.Field) (any, error) {
	if r.pairs == nil {
		value, isZero := f.ValueOf(r.ctx, r.row)
		if isZero {
			return nil, nil
		}
		return plain(value)
	}
	value, ok := r.pairs[f.DBName]
	if !ok {
		value = r.pairs[f.Name]
	}
	p, err := plain(value)
	if err != nil || p == nil || reflect.ValueOf(p).IsZero() {
		return nil, err
	}
	return p, nil
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

// node returns what the record says of its place in the tree.
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
	for _, part := range []struct {
		field *schema.Field
		value *string
	}{{t.label, &n.name}, {t.path, &n.path}} {
		if part.field == nil {
			continue
		}
		value, err := r.get(part.field)
		if err != nil {
			return nil, err
		}
		text, ok := value.(string)
		if !ok && value != nil {
			return nil, unsupported(t, "the column %q needs a text, not a %T", part.field.DBName, value)
		}
		*part.value = text
	}
	return n, nil
}

// recordsOf returns the rows that a Create is to insert.
func recordsOf(stmt *gorm.Statement) ([]record, error) {
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
			records = append(records, record{ctx: stmt.Context, row: v})
		case reflect.Map:
			pairs, ok := v.Interface().(map[string]any)
			if !ok {
				return gorm.ErrInvalidData
			}
			records = append(records, record{ctx: stmt.Context, pairs: pairs})
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
