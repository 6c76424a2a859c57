package write

import (
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// conflictClause is GORM's name for the clause that makes an insert an upsert.
const conflictClause = "ON CONFLICT"

// isSave reports whether an upsert is the second half of a Save of one row, whose UPDATE has hit
// none.
func isSave(stmt *gorm.Statement) bool {
	conflict, ok := stmt.Clauses[conflictClause].Expression.(clause.OnConflict)
	return ok && conflict.UpdateAll && len(conflict.Columns) == 0 && stmt.SkipHooks && slices.Contains(stmt.Selects, "*")
}

// checkConflict refuses conflict clauses by which a row would not stay where it is: those of other
// keys than the primary one, and assignments of anything but the row's own values to the columns
// that say where it is.
func checkConflict(t *table.Table, c clause.OnConflict) error {
	if c.OnConstraint != "" || slices.ContainsFunc(c.Columns, func(column clause.Column) bool { return column.Name != t.Key.DBName }) {
		return t.Unsupported("an upsert must match rows by primary key")
	}
	for _, assigned := range c.DoUpdates {
		f := t.ColumnNamed(assigned.Column.Name)
		if assigned.Column.Raw {
			return t.Unsupported("an upsert cannot set %q: name one column", assigned.Column.Name)
		}
		if f == nil || !t.Owns(f) {
			continue
		}
		if own, ok := assigned.Value.(clause.Column); !ok || own.Raw || own.Table != "excluded" || own.Name != f.DBName || assigned.Column.Name != f.DBName {
			return t.Unsupported("an upsert cannot set %q: use Updates", f.DBName)
		}
	}
	return nil
}

// displaces reports whether an upsert would give a row in the table another parent, name or tree. A
// column that it does not write, such as the name of an association's row, stays as it is.
func displaces(t *table.Table, c clause.OnConflict, row *arrival, n *table.Node) bool {
	elsewhere := writes(c, t.Parent) && n.Parent != row.Parent
	if row.ByPath {
		elsewhere = !t.AsStated(n, row.Stated, "")
	}
	return elsewhere || t.Name != nil && writes(c, t.Name) && n.Name != row.Name ||
		t.Tree != nil && writes(c, t.Tree) && row.Tree != nil && row.Tree != n.Tree
}

// writes reports whether an upsert writes a column of the rows that are there.
func writes(c clause.OnConflict, f *schema.Field) bool {
	if c.DoNothing {
		return false
	}
	return c.UpdateAll ||
		slices.ContainsFunc(c.DoUpdates, func(a clause.Assignment) bool { return a.Column.Name == f.DBName })
}

// writesPlace reports whether an upsert is certain to write all that a row states of its place.
// Select and Omit leave columns out, a map may not have them, and a condition may leave out the
// row.
func writesPlace(stmt *gorm.Statement, c clause.OnConflict, row *arrival) bool {
	t := row.Table
	place := []*schema.Field{t.Parent, t.Name}
	if row.ByPath {
		place[0] = t.Path
	}
	for _, f := range place {
		if f != nil && (row.Pairs != nil && !row.States(f) || !table.IsWritten(stmt, f)) {
			return false
		}
	}
	return len(c.Where.Exprs) == 0 && len(c.TargetWhere.Exprs) == 0
}
