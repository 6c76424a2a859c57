package write

import (
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
)

// selectPlace has a statement that creates rows write the columns of their place, whatever it
// selects and omits, and returns what undoes that. A name or a parent that the rows state and the
// statement leaves out has no good reading.
func selectPlace(t *table.Table, stmt *gorm.Statement, rows []*arrival) (undo func(), err error) {
	if len(stmt.Selects) == 0 && len(stmt.Omits) == 0 {
		return nil, nil
	}
	selects, omits := stmt.Selects, stmt.Omits
	undo = func() { stmt.Selects, stmt.Omits = selects, omits }
	for _, f := range t.PlaceColumns() {
		if table.IsWritten(stmt, f) {
			continue
		}
		if f == t.Name || f == t.Parent {
			for _, row := range rows {
				if value, err := row.Get(f); err != nil || value != nil {
					return undo, t.Unsupported("a new row's %q cannot be left out by Select or Omit", f.DBName)
				}
			}
		}
		stmt.Omits = slices.DeleteFunc(slices.Clone(stmt.Omits), func(name string) bool { return t.ColumnNamed(name) == f })
		if len(stmt.Selects) > 0 {
			stmt.Selects = append(slices.Clone(stmt.Selects), f.DBName)
		}
		if !table.IsWritten(stmt, f) {
			return undo, t.Unsupported("a new row's %q cannot be left out by Select or Omit", f.DBName)
		}
	}
	return undo, nil
}
