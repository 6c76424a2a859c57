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
	// tree and path are what the caller states; the plugin decides what is written.
	tree, path any
	// restores and removes are set if the deletion mark is assigned: to live, or to deleted.
	restores, removes bool
}

// touches reports whether the tree can change by it.
func (a *assignment) touches() bool {
	return a.name != nil || a.parent != nil || a.tree != nil || a.path != nil || a.restores || a.removes
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
	for _, assigned := range a.set {
		f := t.schema.LookUpField(assigned.Column.Name)
		if f == nil {
			continue
		}
		if slices.Contains(t.deletion, f) {
			if isZero(assigned.Value) {
				a.restores = true
			} else {
				a.removes = true
			}
			continue
		}
		if f != t.label && f != t.parent && f != t.tree && f != t.path && f != t.key {
			continue
		}
		value, err := t.assignable(f, assigned.Value)
		if err != nil {
			return nil, err
		}
		switch f {
		case t.label:
			a.name = &value
		case t.parent:
			if value != nil && reflect.ValueOf(value).IsZero() {
				value = nil
			}
			a.parent = &value
		case t.tree:
			a.tree = value
		case t.path:
			a.path = value
		}
	}
	if a.name != nil {
		if _, ok := (*a.name).(string); !ok {
			return nil, unsupported(t, "the name must be a text, not %v", *a.name)
		}
	}
	return a, nil
}

// assignable returns an assigned value in plain form; what only the database
// could work out is refused, as the locks and the paths depend on it.
func (t *table) assignable(f *schema.Field, value any) (any, error) {
	switch value.(type) {
	case clause.Expression, *gorm.DB, []any:
		return nil, unsupported(t, "%q can be set to a value only, not to an expression", f.DBName)
	}
	return plain(value)
}

// isZero reports whether an assigned deletion mark means a live row.
func isZero(value any) bool {
	p, err := plain(value)
	return err == nil && (p == nil || reflect.ValueOf(p).IsZero())
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
	return same(a.name, b.name) && same(a.parent, b.parent) && a.tree == b.tree && a.path == b.path &&
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
