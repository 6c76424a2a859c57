package table

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
)

// Record is a row as the caller hands it to Create: a struct of the model, or a map.
type Record struct {
	Ctx   context.Context
	Table *Table
	Row   reflect.Value  // a struct
	Pairs map[string]any // or a map, by column name
}

// Get returns a column's value in plain form. It is nil if the column is NULL, a zero value or
// not stated.
func (r Record) Get(f *schema.Field) (any, error) {
	if r.Pairs == nil {
		if r.States(f) {
			return r.Table.ValueIn(r.Ctx, r.Row, f)
		}
	} else if value, err := r.Table.Convert(r.Ctx, f, r.Pairs[f.DBName]); err != nil || value != nil && !reflect.ValueOf(value).IsZero() {
		return value, err
	}
	if f.PrimaryKey || f.DefaultValueInterface == nil {
		return nil, nil
	}
	value, err := Plain(f.DefaultValueInterface)
	return r.Table.spell(f, value), err
}

// Set gives a column a value. It does nothing where the table lacks the column, and f is nil.
func (r Record) Set(f *schema.Field, value any) error {
	switch {
	case f == nil:
		return nil
	case r.Pairs == nil:
		return SetAnew(r.Ctx, f, r.Row, value)
	}
	r.Pairs[f.DBName] = value
	return nil
}

// respell sets the columns of a map that say where the row is to the values with which it is
// planned.
func (r Record) respell() error {
	for _, f := range []*schema.Field{r.Table.Key, r.Table.Parent, r.Table.Tree, r.Table.Name} {
		if f == nil || !r.States(f) {
			continue
		}
		planned, err := r.Get(f)
		if err != nil {
			return err
		}
		if planned == nil {
			if _, bytes := r.Pairs[f.DBName].([]byte); !bytes || f != r.Table.Name {
				continue
			}
			planned = "" // SQLite would store no text
		}
		if err := r.Set(f, Written(r.Pairs[f.DBName], planned)); err != nil {
			return err
		}
	}
	return nil
}

// States reports whether the caller has given a column a value.
func (r Record) States(f *schema.Field) bool {
	if r.Pairs == nil {
		_, isZero := f.ValueOf(r.Ctx, r.Row)
		return !isZero
	}
	_, stated := r.Pairs[f.DBName]
	return stated
}

// Settle gives a column that the caller has not stated the value with which the row is planned, so
// that no default of the database's takes its place. It does nothing where the table lacks the
// column, and f is nil.
func (r Record) Settle(f *schema.Field) error {
	if f == nil || r.States(f) {
		return nil
	}
	value, err := r.Get(f)
	switch {
	case err != nil:
		return err
	case value != nil:
		return r.Set(f, value)
	case f.HasDefaultValue && !strings.EqualFold(f.DefaultValue, "NULL"):
		return r.Table.Unsupported("a new row must state its %q: the plugin cannot know in advance what the database would fill in", f.DBName)
	case r.Pairs != nil:
		return r.Set(f, reflect.Zero(f.FieldType).Interface())
	}
	return nil
}

// NodeIn returns what the record says of its place in the tree.
func (t *Table) NodeIn(r Record) (*Node, error) {
	var err error
	get := func(f *schema.Field) (value any) {
		if f != nil && err == nil {
			value, err = r.Get(f)
		}
		return value
	}
	text := func(f *schema.Field) string {
		value := get(f)
		text, ok := TextOf(value)
		if !ok && value != nil && err == nil {
			err = t.Unfit("the column %q needs a text, not a %T", f.DBName, value)
		}
		return text
	}
	n := &Node{ID: get(t.Key), Parent: t.ParentOrNil(get(t.Parent)), Tree: t.treeBy(get), Name: text(t.Name), Path: ReadStated(t.PathForm, text(t.Path)), IDs: ReadStated(t.IDsForm, text(t.IDs))}
	if t.Name == nil && n.ID != nil {
		n.Name = plan.IDText(n.ID)
	}
	if err != nil {
		return nil, err
	}
	for _, f := range t.Deletion {
		mark, err := r.Get(f)
		if err != nil {
			return nil, err
		}
		if live, _, err := t.MarksLive(r.Ctx, f, mark); err != nil || !live {
			return nil, t.Unsupported("a row cannot be created as a deleted one, or saved so by an upsert or along with another: Create it and delete it, Update its mark, or leave it out by Omit(clause.Associations)")
		}
	}
	return n, nil
}

// MadeUpName is a name for new rows without names, whose ids the database will make: one that no
// other row has, so that its slot keeps nobody out.
func MadeUpName() string { return "new-" + rand.Text() }

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
			record := Record{Ctx: stmt.Context, Table: t, Pairs: pairs}
			records = append(records, record)
			return record.respell()
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

// canonicalNames gives the columns in a map their own names. GORM and the database also understand
// others, such as the field's.
func (t *Table) canonicalNames(pairs map[string]any) {
	for name, value := range pairs {
		if f := t.ColumnNamed(name); f != nil && f.DBName != "" && name != f.DBName {
			delete(pairs, name)
			pairs[f.DBName] = value
		}
	}
}

// TellPlace writes what follows from a row's place into a struct of the model, and the path of a
// leaf where it has a field for it.
func (t *Table) TellPlace(ctx context.Context, row reflect.Value, n *Node) error {
	return errors.Join(t.SetFollowing(Record{Ctx: ctx, Row: row}, n), t.Tell(ctx, row, n.Path))
}

// EachRow calls do for every struct of the model that rows, one of them or a list, holds.
func (t *Table) EachRow(rows reflect.Value, do func(row reflect.Value) error) error {
	switch rows.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range rows.Len() {
			if err := t.EachRow(reflect.Indirect(rows.Index(i)), do); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if rows.CanAddr() && rows.Type() == t.Schema.ModelType {
			return do(rows)
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

// Tell writes a leaf's path into a struct of its model. It changes nothing where the path is not
// known, because the parent is deleted.
func (t *Table) Tell(ctx context.Context, row reflect.Value, path string) error {
	if t.told == nil || path == "" {
		return nil
	}
	return SetAnew(ctx, t.told, row, path)
}

// SetAnew sets a field of a struct. GORM would assign through a pointer that is there already,
// which may be shared: with another row, or with the field of the parent.
func SetAnew(ctx context.Context, f *schema.Field, row reflect.Value, value any) error {
	if place := f.ReflectValueOf(ctx, row); place.Kind() == reflect.Pointer {
		place.SetZero()
	}
	return f.Set(ctx, row, value)
}
