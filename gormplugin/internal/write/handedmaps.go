package write

import (
	"maps"
	"reflect"
	"slices"

	"gorm.io/gorm"
)

// handedMaps are the rows that a Create is handed as maps. Callers may share a map between
// requests. So the plugin writes places into copies, and passes on what GORM adds, such as new
// keys.
type handedMaps struct {
	dest        any
	rows, own   []map[string]any
	added       []map[string]any
	list, given *[]map[string]any
}

// replaceMaps has a statement create copies of the maps that it is handed. It returns nil if it is
// handed none.
func replaceMaps(stmt *gorm.Statement) *handedMaps {
	h := &handedMaps{dest: stmt.Dest}
	switch dest := stmt.Dest.(type) {
	case map[string]any:
		h.rows = []map[string]any{dest}
	case *map[string]any:
		h.rows = []map[string]any{*dest}
	case []map[string]any:
		h.rows = dest
	case *[]map[string]any:
		h.rows, h.list = *dest, dest
	default:
		return nil
	}
	for _, row := range h.rows {
		own := make(map[string]any, len(row))
		maps.Copy(own, row)
		h.own = append(h.own, own)
	}
	h.added = make([]map[string]any, len(h.rows))
	switch stmt.Dest.(type) {
	case map[string]any, *map[string]any:
		stmt.Dest = h.own[0]
	case []map[string]any:
		stmt.Dest = h.own
	default:
		h.given = new(slices.Clone(h.own)) // to which GORM appends the rows that are returned
		stmt.Dest = h.given
	}
	stmt.ReflectValue = reflect.Indirect(reflect.ValueOf(stmt.Dest))
	return h
}

// note notes what GORM adds to the copies while it writes.
func (h *handedMaps) note(write func()) {
	if h == nil {
		write()
		return
	}
	before := make([]map[string]any, len(h.own))
	for i, row := range h.own {
		before[i] = maps.Clone(row)
	}
	write()
	for i, row := range h.own {
		for name, value := range row {
			if was, stated := before[i][name]; !stated || !reflect.DeepEqual(was, value) {
				if h.added[i] == nil {
					h.added[i] = make(map[string]any)
				}
				h.added[i][name] = value
			}
		}
	}
}

// giveBack gives the statement what it was handed, and the caller what GORM has added, if the
// statement has succeeded.
func (h *handedMaps) giveBack(db *gorm.DB) {
	if h == nil {
		return
	}
	db.Statement.Dest, db.Statement.ReflectValue = h.dest, reflect.Indirect(reflect.ValueOf(h.dest))
	if db.Error != nil {
		return
	}
	for i, row := range h.rows {
		maps.Copy(row, h.added[i])
	}
	if h.list != nil {
		*h.list = append(*h.list, (*h.given)[len(h.rows):]...)
	}
}
