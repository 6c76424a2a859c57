package gormplugin

import (
	"reflect"

	"gorm.io/gorm"
)

// complete adds the new paths, and what else follows from them, to what the statement assigns to a
// number of rows of which some move.
func (t *table) complete(a *assignment, moves []move, rows int, fence uint64) {
	var ids, paths, idPaths, versions, fences []any
	for _, m := range moves {
		ids = append(ids, m.id)
		paths, idPaths = append(paths, m.path), append(idPaths, m.ids)
		versions = append(versions, m.version+1)
		fences = append(fences, fence)
	}
	others := len(moves) < rows
	if !t.isLeaf() {
		a.drop(t.tree)
		a.replace(t, t.path, ids, paths, others)
		if t.ids != nil {
			a.replace(t, t.ids, ids, idPaths, others)
		}
	}
	if t.version != nil && len(ids) > 0 {
		a.replace(t, t.version, ids, versions, others)
	}
	if t.fence != nil {
		a.replace(t, t.fence, ids, fences, others)
	}
}

// reflect writes the new paths and versions into the caller's structs, as GORM does with
// whatever else was assigned.
func (t *table) reflect(stmt *gorm.Statement, x *turn) error {
	moved := make(map[any]move, len(x.moves))
	for _, m := range x.moves {
		moved[m.id] = m
	}
	update := func(row reflect.Value) error {
		row = reflect.Indirect(row)
		if !row.IsValid() || !row.CanAddr() || row.Type() != t.schema.ModelType {
			return nil
		}
		value, _ := t.key.ValueOf(stmt.Context, row)
		id, err := plain(value)
		if err != nil {
			return err
		}
		m, ok := moved[id]
		if !ok {
			return nil
		}
		if t.version != nil {
			if err := t.version.Set(stmt.Context, row, m.version+1); err != nil {
				return err
			}
		}
		if t.isLeaf() {
			return t.tell(stmt.Context, row, m.path)
		}
		return t.setPaths(record{ctx: stmt.Context, row: row}, &node{path: m.path, ids: m.ids})
	}
	switch v := stmt.ReflectValue; v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := update(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return update(v)
	}
	return nil
}
