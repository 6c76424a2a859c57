package gormplugin

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/callbacks"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// assignment is what an UPDATE says about the place of the rows that it hits.
type assignment struct {
	set clause.Set
	// name and parent are the assigned values, where they are assigned.
	name, parent *any
	// key, tree, path and ids are what the caller states, if anything. A key cannot change; of the
	// others, the plugin decides what is written.
	key, tree any
	path, ids string
	// version is what is assigned to the version, if anything.
	version any
	// place is set if anything is assigned to a column that says where a row is, were it a zero
	// value.
	place bool
	// restores and removes are set if the deletion mark is assigned: to live, or to deleted.
	restores, removes bool
}

// touches reports whether the tree can change by it.
func (a *assignment) touches() bool {
	return a.place || a.restores || a.removes
}

// assignmentIn returns what the update that stmt stands for assigns, as
// GORM itself works it out. It adds the conditions on the primary key to stmt.
func (t *table) assignmentIn(stmt *gorm.Statement) (*assignment, error) {
	a := &assignment{}
	if c, ok := stmt.Clauses["SET"]; ok {
		a.set, _ = c.Expression.(clause.Set)
	} else {
		a.set = callbacks.ConvertToAssignments(stmt)
	}
	if stmt.DB.Error != nil {
		return nil, stmt.DB.Error
	}
	a.set = slices.Clone(a.set)
	seen := make(map[*schema.Field]bool)
	for i, assigned := range a.set {
		f := t.columnNamed(assigned.Column.Name)
		if f != nil && f == t.version {
			if version, err := plain(assigned.Value); err == nil {
				a.version = version
			}
		}
		if assigned.Column.Raw {
			return nil, t.unsupported("an update cannot set %q: name one column", assigned.Column.Name)
		}
		if f == nil || f != t.key && !slices.Contains(t.deletion, f) && !slices.Contains(t.placeColumns(), f) {
			continue
		}
		if seen[f] {
			return nil, t.unsupported("an update sets %q twice", f.DBName)
		}
		seen[f] = true
		// However it was named: the plugin may have another value for it.
		a.set[i].Column = clause.Column{Name: f.DBName}
		if slices.Contains(t.deletion, f) {
			live, err := t.marksLive(stmt.Context, f, assigned.Value)
			if err != nil {
				return nil, err
			}
			if live {
				a.set[i].Value = liveMark(f)
			}
			// A statement that leaves deleted rows out brings none back.
			a.restores, a.removes = live && stmt.Unscoped, !live
			continue
		}
		a.place = a.place || f != t.fence
		if err := t.enter(stmt.Context, a, f, assigned.Value); err != nil {
			return nil, err
		}
		if f == t.parent && *a.parent == nil {
			a.set[i].Value = t.noParent()
			if err := t.clearParents(stmt.Context, stmt.ReflectValue); err != nil {
				return nil, err
			}
		}
	}
	return a, nil
}

// enter notes what is assigned to a column that says where a row is.
func (t *table) enter(ctx context.Context, a *assignment, f *schema.Field, assigned any) error {
	if f == t.fence {
		return nil
	}
	value, err := t.convert(ctx, f, assigned)
	if err != nil {
		return err
	}
	switch {
	case f == t.parent:
		value = t.parentOrNil(value)
	case f != t.label && value != nil && reflect.ValueOf(value).IsZero():
		value = nil
	}
	switch f {
	case t.label:
		name, ok := textOf(value)
		if !ok {
			return t.unsupported("the name must be a text, not %v", value)
		}
		value = name
		a.name = &value
	case t.parent:
		a.parent = &value
	case t.key:
		if value == nil {
			return t.unsupported("the primary key cannot be set to %v", assigned)
		}
		a.key = value
	case t.tree:
		a.tree = value
	case t.path:
		a.path, _ = textOf(value)
	case t.ids:
		a.ids, _ = textOf(value)
	}
	return nil
}

// liveMark is the value of a deletion mark in a live row: what GORM writes for a new one, NULL or a
// zero value.
func liveMark(f *schema.Field) any {
	if strings.EqualFold(f.DefaultValue, "NULL") {
		return nil
	}
	// A zero value has a plain form, unless the type is none that a column could have.
	live, _ := plain(reflect.Zero(f.FieldType).Interface())
	return live
}

// marksLive reports whether a value that is assigned to a deletion mark means a live row.
func (t *table) marksLive(ctx context.Context, f *schema.Field, assigned any) (bool, error) {
	value, err := t.convert(ctx, f, assigned)
	if err != nil {
		return false, err
	}
	live := liveMark(f)
	// Of a struct whose mark is 0, nobody can tell whether that was NULL; and a flag may be given
	// as NULL or as a zero value.
	return value == live || value == nil || live == nil && reflect.ValueOf(value).IsZero(), nil
}

// rehearsal returns a copy of an update's statement on which its assignments can
// be worked out early, before the hooks: neither the model's fields nor the
// statement's conditions are changed by it.
func (t *table) rehearsal(db *gorm.DB) *gorm.Statement {
	copied := db.Session(&gorm.Session{Initialized: true}).Statement
	copied.ReflectValue = t.detached(db.Statement.Context, reflect.ValueOf(db.Statement.Model))
	return copied
}

// detached returns a copy of the structs behind v that can be assigned to.
func (t *table) detached(ctx context.Context, v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		list := reflect.MakeSlice(reflect.SliceOf(t.schema.ModelType), 0, v.Len())
		for i := range v.Len() {
			if row := t.detached(ctx, v.Index(i)); row.IsValid() && row.Type() == t.schema.ModelType {
				list = reflect.Append(list, row)
			}
		}
		return list
	case reflect.Struct:
		fresh := reflect.New(v.Type()).Elem()
		fresh.Set(v)
		if v.Type() != t.schema.ModelType {
			return fresh
		}
		for _, f := range t.schema.Fields {
			// GORM assigns through a pointer that is there already.
			if field := f.ReflectValueOf(ctx, fresh); field.Kind() == reflect.Pointer && !field.IsNil() {
				pointee := reflect.New(field.Type().Elem())
				pointee.Elem().Set(field.Elem())
				field.Set(pointee)
			}
		}
		return fresh
	default:
		return v
	}
}

// replace makes the statement assign values to the rows with the given ids. The other
// rows that it hits, if there are any, keep what they have.
func (a *assignment) replace(t *table, f *schema.Field, ids, values []any, others bool) {
	a.drop(f)
	if len(ids) == 0 {
		return
	}
	value := values[0]
	if len(ids) > 1 || others {
		var sql strings.Builder
		sql.WriteString("CASE ?")
		vars := []any{column(t.key)}
		for i := range ids {
			sql.WriteString(" WHEN ? THEN ?")
			vars = append(vars, ids[i], values[i])
		}
		sql.WriteString(" ELSE ? END")
		value = clause.Expr{SQL: sql.String(), Vars: append(vars, column(f))}
	}
	a.set = append(a.set, clause.Assignment{Column: clause.Column{Name: f.DBName}, Value: value})
}

// drop removes what is assigned to a column.
func (a *assignment) drop(f *schema.Field) {
	a.set = slices.DeleteFunc(slices.Clone(a.set), func(s clause.Assignment) bool { return s.Column.Name == f.DBName })
}

// sameAs reports whether two assignments do the same to the tree.
func (a *assignment) sameAs(b *assignment) bool {
	same := func(a, b *any) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }
	return same(a.name, b.name) && same(a.parent, b.parent) && a.key == b.key && a.tree == b.tree && a.path == b.path && a.ids == b.ids &&
		a.restores == b.restores && a.removes == b.removes
}

// String names the kind of change, for the notes on locks.
func (a *assignment) String() string {
	switch {
	case a.restores:
		return "restore"
	case a.parent != nil && a.name == nil:
		return "move"
	case a.parent == nil && a.name != nil:
		return "rename"
	default:
		return fmt.Sprintf("update of %d columns", len(a.set))
	}
}
