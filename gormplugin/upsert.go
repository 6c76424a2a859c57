package gormplugin

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// conflictClause is GORM's name of the clause that makes an insert an upsert.
const conflictClause = "ON CONFLICT"

// isUpsert reports whether an insert may turn into an update. GORM makes one of Save, when its UPDATE changed
// nothing, and of the saving of associations too.
func isUpsert(db *gorm.DB) bool {
	_, ok := db.Statement.Clauses[conflictClause]
	return ok
}

// settleUpsert decides about an upsert. MySQL's form of it matches any unique key, so that a
// new row could silently take over an existing sibling of the same name. Hence:
// rows that are not in the table are plainly inserted; rows that all are, and that
// stay where they are in the tree, are left to the clause; anything else is refused. It reports whether the rows stay.
func (p *Plugin) settleUpsert(db *gorm.DB, t *table, rows []*arrival, lock rowLock) (stay bool, err error) {
	var ids []any
	for _, row := range rows {
		if row.id != nil {
			ids = append(ids, row.id)
		}
	}
	present, err := t.byID(db, ids, lock)
	if err != nil || len(present) == 0 {
		return false, err
	}
	for _, row := range rows {
		n := present[row.id]
		if n == nil || n.parent != row.parent || n.name != row.name || row.tree != nil && row.tree != n.tree {
			return false, unsupported(t, "an upsert can neither move nor rename rows nor mix new rows with old ones: use Create and Updates, and Omit(clause.Associations) where an association is meant to stay as it is")
		}
		if err := t.stated(row.id, row.stated, row.statedIDs, n); err != nil {
			return false, err
		}
		row.node = n
	}
	if c, ok := db.Statement.Clauses[conflictClause].Expression.(clause.OnConflict); ok {
		for _, column := range c.Columns {
			if column.Name != t.key.DBName {
				return false, unsupported(t, "an upsert can only go by the primary key")
			}
		}
	}
	return true, nil
}

// keep has an upsert write what its row has already: what follows from the row's place is not the caller's to change.
func (t *table) keep(row *arrival) error {
	if t.version != nil {
		if err := row.set(t.version, row.version); err != nil {
			return err
		}
	}
	if t.isLeaf() {
		return nil
	}
	if err := row.set(t.tree, row.tree); err != nil {
		return err
	}
	return t.setPaths(row.record, row.node)
}
