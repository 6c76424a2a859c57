package table

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// Record is a row as the caller hands it to Create: a struct of the model, or a map.
type Record struct {
	Ctx   context.Context
	Table *Table
	Row   reflect.Value  // a struct
	Pairs map[string]any // or a map, by column or field name
}

// Get returns a column's value in plain form, nil where it is NULL, a zero value or not stated.
func (r Record) Get(f *schema.Field) (any, error) {
	var value any
	var err error
	if r.Pairs == nil {
		held, isZero := f.ValueOf(r.Ctx, r.Row)
		if !isZero {
			return Plain(held)
		}
	} else {
		stated, ok := r.Pairs[f.DBName]
		if !ok {
			stated = r.Pairs[f.Name]
		}
		if value, err = r.Table.Convert(r.Ctx, f, stated); err != nil || value != nil && !reflect.ValueOf(value).IsZero() {
			return value, err
		}
	}
	if f.PrimaryKey || f.DefaultValueInterface == nil {
		return nil, nil
	}
	return Plain(f.DefaultValueInterface)
}

// Set gives a column a value.
func (r Record) Set(f *schema.Field, value any) error {
	if r.Pairs == nil {
		return f.Set(r.Ctx, r.Row, value)
	}
	delete(r.Pairs, f.Name)
	r.Pairs[f.DBName] = value
	return nil
}

// States reports whether the caller has given a column a value.
func (r Record) States(f *schema.Field) bool {
	if r.Pairs == nil {
		_, isZero := f.ValueOf(r.Ctx, r.Row)
		return !isZero
	}
	_, byColumn := r.Pairs[f.DBName]
	_, byField := r.Pairs[f.Name]
	return byColumn || byField
}

// Settle gives a column that the caller has not given a value the one that the row is planned with,
// so that no default of the database's takes its place.
func (r Record) Settle(f *schema.Field) error {
	if r.States(f) {
		return nil
	}
	value, err := r.Get(f)
	switch {
	case err != nil:
		return err
	case value != nil:
		return r.Set(f, value)
	case f.HasDefaultValue && !strings.EqualFold(f.DefaultValue, "NULL"):
		return r.Table.Unsupported("a new row has to state its %q: what the database would fill in is not known before", f.DBName)
	case r.Pairs != nil:
		return r.Set(f, reflect.Zero(f.FieldType).Interface())
	}
	return nil
}

// NodeIn returns what the record says of its place in the tree.
func (t *Table) NodeIn(r Record) (*Node, error) {
	n := new(Node)
	for _, part := range []struct {
		field *schema.Field
		value *any
	}{{t.Key, &n.ID}, {t.Parent, &n.Parent}, {t.Tree, &n.Tree}} {
		if part.field == nil {
			continue
		}
		value, err := r.Get(part.field)
		if err != nil {
			return nil, err
		}
		*part.value = value
	}
	n.Parent = t.ParentOrNil(n.Parent)
	for _, part := range []struct {
		field *schema.Field
		value *string
	}{{t.Name, &n.Name}, {t.Path, &n.Path}, {t.IDs, &n.IDs}} {
		if part.field == nil {
			continue
		}
		value, err := r.Get(part.field)
		if err != nil {
			return nil, err
		}
		text, ok := TextOf(value)
		if !ok && value != nil {
			return nil, t.Unsupported("the column %q needs a text, not a %T", part.field.DBName, value)
		}
		*part.value = text
	}
	for _, f := range t.Deletion {
		if mark, err := r.Get(f); err != nil || mark != nil {
			return nil, t.Unsupported("a row cannot be created as a deleted one: Create it and Delete it")
		}
	}
	return n, nil
}

// RecordsOf returns the rows that a Create is to insert.
func (t *Table) RecordsOf(stmt *gorm.Statement) ([]Record, error) {
	var records []Record
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
			records = append(records, Record{Ctx: stmt.Context, Table: t, Row: v})
		case reflect.Map:
			pairs, ok := v.Interface().(map[string]any)
			if !ok {
				return gorm.ErrInvalidData
			}
			t.canonicalNames(pairs)
			records = append(records, Record{Ctx: stmt.Context, Table: t, Pairs: pairs})
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

// canonicalNames gives the columns in a map their own names, where they are named in another way
// that GORM or the database understands.
func (t *Table) canonicalNames(pairs map[string]any) {
	for name, value := range pairs {
		if f := t.ColumnNamed(name); f != nil && f.DBName != "" && name != f.DBName && name != f.Name {
			delete(pairs, name)
			pairs[f.DBName] = value
		}
	}
}

// SetPaths writes a row's paths into the record; one that lacks its id is left empty, see
// fillIDs.
func (t *Table) SetPaths(r Record, n *Node) error {
	for f, path := range t.PathsIn(n) {
		if lacksID(path) {
			path = ""
		}
		if err := r.Set(f, path); err != nil {
			return err
		}
	}
	return nil
}

// StructOf returns the struct of the table that a model points to, an invalid value if it does not.
func (t *Table) StructOf(model any) reflect.Value {
	v := reflect.ValueOf(model)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Type() != t.Schema.ModelType {
		return reflect.Value{}
	}
	return v.Elem()
}

// Tell writes a leaf's path into a struct of its model. One whose path is not known, as its parent
// is deleted, is left alone.
func (t *Table) Tell(ctx context.Context, row reflect.Value, path string) error {
	if t.told == nil || path == "" {
		return nil
	}
	return t.told.Set(ctx, row, path)
}
