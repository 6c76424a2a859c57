package write

import (
	"cmp"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// arrival is a row that a Create is to insert.
type arrival struct {
	plan.Arrival
	table.Record
	// from is the place of a row that an upsert moves or renames.
	from *table.Node
}

// toPlan returns what rows are to a plan.
func toPlan(rows []*arrival) []*plan.Arrival {
	return valuesOf(rows, func(row *arrival) *plan.Arrival { return &row.Arrival })
}

// valuesOf lists a value of each row.
func valuesOf[T, V any](rows []T, value func(T) V) []V {
	values := make([]V, len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}

// idOf is the id of a row.
func idOf(n *table.Node) any { return n.ID }

// arrivals returns the rows that a Create is to insert.
func (s *statement) arrivals() ([]*arrival, error) {
	t := s.Table
	records, err := t.RecordsOf(s.DB.Statement)
	if err != nil {
		return nil, err
	}
	rows := make([]*arrival, len(records))
	for i, r := range records {
		n, err := t.NodeIn(r)
		if err != nil {
			return nil, err
		}
		if t.Name == nil && n.ID == nil {
			s.madeUp = cmp.Or(s.madeUp, table.MadeUpName())
			n.Name = s.madeUp
		}
		rows[i] = &arrival{plan.Arrival{Node: n, Stated: n.Path, StatedIDs: n.IDs, StatedTree: n.Tree}, r, nil}
		t.ReadPath(&rows[i].Arrival)
	}
	return rows, nil
}

// settleMarks gives a row in a map the marks of a live row, if it states none. A struct always has
// them, and NULL does not mark a row as live where 0 does.
func (row *arrival) settleMarks() error {
	if row.Pairs == nil {
		return nil
	}
	for _, f := range row.Table.Deletion {
		if live := row.Table.LiveMark(f); live != nil && !row.States(f) {
			if err := row.Set(f, live); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleParent gives a new row without a parent the value of [table.Table.ParentValue], and one
// that states a path instead the parent and the name that the path says.
func (row *arrival) settleParent() (err error) {
	if row.ByPath {
		err = row.Set(row.Table.Name, row.Name)
	}
	if row.ByPath || row.Parent == nil {
		err = errors.Join(err, row.Set(row.Table.Parent, row.Table.ParentValue(row.Parent)))
	}
	return err
}

// parentsOf returns the known rows, and those of the rows' parents in the database that are missing
// among them: see [table.Table.Rows]. It finds the parents of rows that state a path instead.
func (s *statement) parentsOf(rows []*arrival, known map[any]*table.Node, lock string) (map[any]*table.Node, error) {
	above := s.Table.Above
	var paths []plan.Spot
	for _, row := range rows {
		if row.ByPath {
			paths = append(paths, row.Above())
		}
	}
	if len(paths) > 0 {
		if known == nil && lock == "" {
			known = above.Recalled(s.DB)[above.TableName]
		}
		at, found, err := above.AtPaths(s.DB, known, paths, lock)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if row.ByPath {
				row.Parent = nil
				if n := at[row.Above()]; n != nil {
					row.Parent = n.ID
				}
			}
		}
		known = found
	}
	return above.Rows(s.DB, known, valuesOf(rows, func(row *arrival) any { return row.Parent }), lock)
}

// store writes what follows from a row's place into the row.
func store(t *table.Table, row *arrival, fence uint64) error {
	err := errors.Join(row.Set(t.Fence, fence), row.Set(t.Tree, row.Tree), t.SetFollowing(row.Record, row.Node))
	if row.Pairs == nil {
		return errors.Join(err, t.Tell(row.Ctx, row.Row, row.Path))
	}
	return err
}

// settleEach settles the rows one by one. Structs may share one that is embedded by a pointer. It
// refuses rows that write different places into that.
func (s *statement) settleEach(rows []*arrival, settle func(row *arrival) error) error {
	t := s.Table
	columns := slices.DeleteFunc(append(t.PlaceColumns(), t.Version), func(f *schema.Field) bool {
		return f == nil || !slices.ContainsFunc(f.StructField.Index, func(i int) bool { return i < 0 })
	})
	said := make([][]any, len(rows))
	for i, row := range rows {
		if err := settle(row); err != nil {
			return err
		}
		said[i] = valuesOf(columns, row.says)
	}
	for i, row := range rows {
		for j, f := range columns {
			if row.says(f) != said[i][j] {
				return t.Unsupported("rows at different places share the struct that has their %q: give each its own", f.DBName)
			}
		}
	}
	return nil
}

// says returns what a row says of a column now, nil if it is in a map.
func (row *arrival) says(f *schema.Field) (value any) {
	if row.Pairs == nil {
		value, _ = row.Get(f)
	}
	return value
}

// handedMaps are the rows that a Create is handed as maps. Callers may share a map between
// requests. So the plugin writes places into copies, and passes on what GORM adds, such as new
// keys.
type handedMaps struct {
	dest        any
	rows, own   []map[string]any
	added       []map[string]any
	list, given *[]map[string]any
}

// replaceMaps makes a statement create copies of the maps that it is handed. It returns nil if it
// is handed none.
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

// note notes what GORM adds to the copies, or to a list of some of them, while it writes.
func (h *handedMaps) note(stmt *gorm.Statement, write func()) {
	if h == nil {
		write()
		return
	}
	before := valuesOf(h.own, maps.Clone)
	some, _ := stmt.Dest.(*[]map[string]any)
	size := stmt.ReflectValue.Len()
	write()
	if h.given != nil && some != h.given {
		*h.given = append(*h.given, (*some)[size:]...)
	}
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
