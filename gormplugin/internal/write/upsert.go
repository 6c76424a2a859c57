package write

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// conflictClause is GORM's name for the clause that makes an insert an upsert.
const conflictClause = "ON CONFLICT"

// associationsKey is what GORM sets on the statements by which it saves the associations of a row.
const associationsKey = "gorm:saved_association_map"

// isUpsert reports whether an insert may turn into an update. GORM runs an upsert for a Save whose
// UPDATE changed nothing, and to save associations.
func isUpsert(db *gorm.DB) bool {
	_, ok := db.Statement.Clauses[conflictClause]
	return ok
}

// settleUpsert decides about an upsert. MySQL's form of it matches any unique key, so that a new
// row could silently take over a sibling of the same name. Hence
//
//   - rows of which none is in the table are plainly inserted,
//   - rows that all are, and that stay where they are in the tree, are left to the clause, and
//   - anything else is refused.
//
// It reports whether the rows stay.
func (e *Engine) settleUpsert(db *gorm.DB, t *table.Table, rows []*arrival, lock string) (stay bool, err error) {
	var ids []any
	for _, row := range rows {
		if row.ID != nil {
			ids = append(ids, row.ID)
		}
	}
	present, err := t.ByID(db, ids, lock)
	if err != nil {
		return false, err
	}
	if err := refuseDeleted(t, db, ids, present); err != nil {
		return false, err
	}
	if len(present) == 0 {
		return false, nil
	}
	conflict, _ := db.Statement.Clauses[conflictClause].Expression.(clause.OnConflict)
	if err := checkConflict(t, conflict); err != nil {
		return false, err
	}
	for _, row := range rows {
		n := present[row.ID]
		_, associated := db.Get(associationsKey)
		switch {
		case n == nil:
			return false, t.Unsupported("an upsert cannot mix new rows with old ones: use Create and Updates, and Omit(clause.Associations) where an association is meant to stay as it is")
		case !associated && isSave(db.Statement) && row.isStale(n):
			return false, displaced(t, db.Statement, row, n, associated)
		case !displaces(t, conflict, row, n):
			// The stated path may be outdated, as a row above may have moved: it is not written.
		case row.isStale(n):
			// Somebody has moved the row since it was loaded, which the caller does not mean to
			// undo.
			return false, &fault.PathChangedError{Table: t.TableName, ID: n.ID, Planned: row.Stated, Actual: n.Path}
		default:
			return false, displaced(t, db.Statement, row, n, associated)
		}
		if n.Name != row.Name {
			// The database does not write the name, but must not find that it collides with a
			// sibling's.
			if err := row.Set(t.Name, n.Name); err != nil {
				return false, err
			}
		}
		row.Node = n
	}
	return true, nil
}

// displaced is the error of an upsert of row that would give n, the row in the table, another
// place.
func displaced(t *table.Table, stmt *gorm.Statement, row *arrival, n *table.Node, associated bool) error {
	model := t.Schema.Name
	switch {
	case isSave(stmt) && !associated:
		return fmt.Errorf("%w: %s: the UPDATE of Save hit no row, though %s is there: its version is another by now, or a condition does not hold; "+
			"read the row again, or change its place by Updates, which reports RowsAffected 0", fault.ErrStale, t.TableName, shown.ID(n.ID))
	case associated && n.Parent != row.Parent:
		return t.Unsupported("an association (Append, Replace, or a field of what is saved) cannot take over the row %s, which has another parent: "+
			"use gormplugin.Move(db, &%s{}, %s, gormplugin.Below(%s)), and Omit(clause.Associations) where it is meant to stay", shown.ID(n.ID), model, shown.ID(n.ID), shown.ID(row.Parent))
	case associated:
		return t.Unsupported("a row that is saved along with others cannot be renamed, as %s would be: use gormplugin.Rename(db, &%s{}, %s, %q)", shown.ID(n.ID), model, shown.ID(n.ID), shown.Cut(row.Name))
	default:
		return t.Unsupported("an upsert can neither move nor rename rows, as it would the row %s: use Updates", shown.ID(n.ID))
	}
}

// isSave reports whether an upsert is the second half of a Save of one row, whose UPDATE has hit
// none.
func isSave(stmt *gorm.Statement) bool {
	conflict, ok := stmt.Clauses[conflictClause].Expression.(clause.OnConflict)
	return ok && conflict.UpdateAll && len(conflict.Columns) == 0 && stmt.SkipHooks && slices.Contains(stmt.Selects, "*")
}

// refuseDeleted refuses an upsert of a row that is in the table, but not among the live ones.
func refuseDeleted(t *table.Table, db *gorm.DB, ids []any, present map[any]*table.Node) error {
	if len(t.Deletion) == 0 || len(present) == len(ids) {
		return nil
	}
	for chunk := range slices.Chunk(ids, table.MaxPlaceholders) {
		// Asked for by their marks: a live row may have come since the live ones were read.
		dead := clause.Expr{SQL: "? AND (?) IS NOT TRUE", Vars: []any{t.KeyIn(table.Column(t.Key), chunk), t.Alive}}
		all, err := t.Read(db, table.Selection{Where: dead, Unscoped: true})
		if err != nil {
			return err
		}
		for _, n := range all {
			return t.Unsupported("the row %s is deleted: bring it back by Unscoped().Model(…).Update(%q, nil) first", shown.ID(n.ID), t.Deletion[0].DBName)
		}
	}
	return nil
}

// checkConflict refuses conflict clauses by which a row would not stay where it is: those of other
// keys than the primary one, and assignments of anything but the row's own values to the columns
// that say where it is.
func checkConflict(t *table.Table, c clause.OnConflict) error {
	if c.OnConstraint != "" || slices.ContainsFunc(c.Columns, func(column clause.Column) bool { return column.Name != t.Key.DBName }) {
		return t.Unsupported("an upsert can only go by the primary key")
	}
	for _, assigned := range c.DoUpdates {
		f := t.ColumnNamed(assigned.Column.Name)
		if assigned.Column.Raw {
			return t.Unsupported("an upsert cannot set %q: name one column", assigned.Column.Name)
		}
		if f == nil || f != t.Key && !slices.Contains(t.Deletion, f) && !slices.Contains(t.PlaceColumns(), f) {
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
	return writes(c, t.Parent) && n.Parent != row.Parent || t.Name != nil && writes(c, t.Name) && n.Name != row.Name ||
		t.Tree != nil && writes(c, t.Tree) && row.Tree != nil && row.Tree != n.Tree
}

// writes reports whether an upsert writes a column of the rows that are there.
func writes(c clause.OnConflict, f *schema.Field) bool {
	if c.DoNothing {
		return false
	}
	return c.UpdateAll || len(c.DoUpdates) == 0 ||
		slices.ContainsFunc(c.DoUpdates, func(a clause.Assignment) bool { return a.Column.Name == f.DBName })
}

// isStale reports whether the row has moved since it was loaded.
func (row *arrival) isStale(n *table.Node) bool {
	return !row.Table.AsStated(n, row.Stated, row.StatedIDs)
}

// restate makes an upsert write what the row has already: the caller cannot change what follows
// from its place.
func restate(t *table.Table, row *arrival) error {
	return errors.Join(row.Set(t.Version, row.Version), row.Set(t.Fence, row.Fence), row.Set(t.Tree, row.Tree), t.SetPaths(row.Record, row.Node))
}
