package txn

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// CallerValues are the values that a caller handed to a statement, so that a further try begins
// with them: GORM, its hooks and this plugin write keys, times, paths and versions into them, which
// mean nothing after a rollback.
//
// They are the fields that GORM knows, associations included, and the entries of maps. What hooks
// do to fields that GORM ignores is not undone.
type CallerValues struct {
	fields []rememberedField
	pairs  []rememberedMap
	// seen are the structs that were remembered already: associations can lead back.
	seen map[address]bool
}

// address identifies a struct. The type tells it from its own first field.
type address struct {
	at uintptr
	is reflect.Type
}

// rememberedField is a place in memory, and what was there.
type rememberedField struct{ place, value reflect.Value }

// rememberedMap is a row in the form of a map, and its entries.
type rememberedMap struct{ row, entries map[string]any }

// Remember notes what a statement's values are.
func Remember(stmt *gorm.Statement) *CallerValues {
	c := &CallerValues{seen: make(map[address]bool)}
	c.take(stmt.Context, stmt.Schema, reflect.ValueOf(stmt.Dest))
	c.take(stmt.Context, stmt.Schema, reflect.ValueOf(stmt.Model))
	return c
}

// take remembers the rows of a model that v holds.
func (c *CallerValues) take(ctx context.Context, s *schema.Schema, v reflect.Value) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if v.CanSet() {
			c.note(v) // GORM appends the rows that are returned
		}
		for i := range v.Len() {
			c.take(ctx, s, v.Index(i))
		}
	case reflect.Map:
		if pairs, ok := v.Interface().(map[string]any); ok {
			c.pairs = append(c.pairs, rememberedMap{pairs, maps.Clone(pairs)})
		}
	case reflect.Struct:
		if !v.CanAddr() || v.Type() != s.ModelType {
			return
		}
		if here := (address{v.Addr().Pointer(), v.Type()}); !c.seen[here] {
			c.seen[here] = true
			c.takeRow(ctx, s, v)
		}
	}
}

// takeRow remembers the fields of one row.
func (c *CallerValues) takeRow(ctx context.Context, s *schema.Schema, row reflect.Value) {
	for _, f := range s.Fields {
		place, ok := c.fieldOf(row, f.StructField.Index)
		if !ok || !place.CanSet() {
			continue
		}
		c.note(place)
		// GORM assigns through a pointer that is there already.
		if f.DBName != "" && place.Kind() == reflect.Pointer && !place.IsNil() && place.Type().Elem().Comparable() {
			c.note(place.Elem())
		}
	}
	for _, relation := range s.Relationships.Relations {
		if relation.Field.Schema != s {
			continue // the other end of an association, whose field is the other model's
		}
		if place, ok := c.fieldOf(row, relation.Field.StructField.Index); ok && relation.FieldSchema != nil {
			c.take(ctx, relation.FieldSchema, place)
		}
	}
}

// fieldOf walks to a field. An index of -1-i is GORM's for an embedded pointer, behind which the
// walk continues. If that pointer is nil, there is no field yet, and the pointer is remembered
// instead.
func (c *CallerValues) fieldOf(row reflect.Value, index []int) (reflect.Value, bool) {
	for _, i := range index {
		if i >= 0 {
			row = row.Field(i)
			continue
		}
		row = row.Field(-1 - i)
		if row.IsNil() {
			c.note(row)
			return row, false
		}
		row = row.Elem()
	}
	return row, true
}

// note remembers what is at a place.
func (c *CallerValues) note(place reflect.Value) {
	value := reflect.New(place.Type()).Elem()
	value.Set(place)
	c.fields = append(c.fields, rememberedField{place, value})
}

// Restore puts everything back. It does not write what was not changed: others may be reading that.
func (c *CallerValues) Restore() {
	for _, f := range slices.Backward(c.fields) {
		if f.place.Comparable() && f.value.Comparable() {
			if !f.place.Equal(f.value) {
				f.place.Set(f.value)
			}
		} else if !reflect.DeepEqual(f.place.Interface(), f.value.Interface()) {
			f.place.Set(f.value)
		}
	}
	for _, p := range c.pairs {
		if !reflect.DeepEqual(p.row, p.entries) {
			clear(p.row)
			maps.Copy(p.row, p.entries)
		}
	}
}

// Journal collects the mementos of the statements in one try of gormplugin.Transaction.
type Journal struct {
	mu       sync.Mutex
	mementos []*CallerValues
}

// journalKey is the context key of the journal.
type journalKey struct{}

// WithJournal returns a context that keeps a journal, and the journal.
func WithJournal(ctx context.Context) (context.Context, *Journal) {
	j := new(Journal)
	return context.WithValue(ctx, journalKey{}, j), j
}

// NoteHanded adds what a statement is handed, if there is a journal.
func NoteHanded(stmt *gorm.Statement) {
	j, ok := stmt.Context.Value(journalKey{}).(*Journal)
	if !ok {
		return
	}
	c := Remember(stmt)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.mementos = append(j.mementos, c)
}

// Undo puts everything back, the last statement's values first.
func (j *Journal) Undo() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range slices.Backward(j.mementos) {
		c.Restore()
	}
	j.mementos = nil
}
