package gormplugin

import (
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// conflictClause is GORM's name of the clause that makes an insert an upsert.
const conflictClause = "ON CONFLICT"

// settleConflictClause decides about an upsert, which GORM makes of Save and of the saving of
// associations too. MySQL's form of it matches any unique key, so that a new row could silently take over an
// existing sibling of the same name. Hence: rows that are not in the table are plainly inserted; rows that are,
// and that stay where they are in the tree, are left to the clause; anything else is refused.
func (p *Plugin) settleConflictClause(db *gorm.DB, t *table) error {
	if _, ok := db.Statement.Clauses[conflictClause]; !ok {
		return nil
	}
	rows, err := arrivals(db, t)
	if err != nil {
		return err
	}
	var ids []any
	for _, row := range rows {
		if row.id != nil {
			ids = append(ids, row.id)
		}
	}
	present, err := t.byID(db, ids, p.dialect.update)
	if err != nil {
		return err
	}
	if len(present) == 0 {
		delete(db.Statement.Clauses, conflictClause)
		return nil
	}
	for _, row := range rows {
		n := present[row.id]
		if n == nil || n.parent != row.parent || n.name != row.name || row.tree != nil && row.tree != n.tree {
			return unsupported(t, "an upsert can neither move nor rename rows nor mix new rows with old ones: use Create and Updates, and Omit(clause.Associations) where an association is meant to stay as it is")
		}
	}
	if c, ok := db.Statement.Clauses[conflictClause].Expression.(clause.OnConflict); ok && len(c.Columns) > 0 {
		for _, column := range c.Columns {
			if column.Name != t.key.DBName {
				return unsupported(t, "an upsert can only go by the primary key")
			}
		}
	}
	return nil
}
