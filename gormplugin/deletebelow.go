package gormplugin

import (
	"errors"
	"reflect"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// deleteBelow deletes the live rows in ranges of the index over tree and path, in the way in which
// GORM would: softly, unless unscoped is set or the rows have no mark of deletion. It returns how
// many these were.
func (t *table) deleteBelow(db *gorm.DB, ranges clause.Expression, unscoped bool) (rows int64, err error) {
	err = t.onPathIndex(db, func(from hinted) error {
		d := t.direct(db)
		if !unscoped {
			t.addSoftDelete(d, from, ranges)
		}
		if d.SQL.Len() == 0 {
			rows, err = t.deleteForGood(db, from, ranges)
		} else {
			rows, err = d.exec()
		}
		return err
	})
	return rows, err
}

// addSoftDelete has the marks of deletion write an UPDATE that sets them; nothing is written where
// there is no mark.
func (t *table) addSoftDelete(d *direct, from, where clause.Expression) {
	d.Model = t.fresh()
	d.Dest, d.ReflectValue = d.Model, reflect.ValueOf(d.Model).Elem()
	name := t.direct(d.DB).add("?", from).SQL.String()
	d.AddClause(clause.Update{Table: clause.Table{Name: name, Raw: true}})
	d.AddClause(clause.Where{Exprs: []clause.Expression{where}})
	for _, f := range t.deletion {
		if mark, ok := reflect.New(f.IndirectFieldType).Interface().(schema.DeleteClausesInterface); ok {
			for _, c := range mark.DeleteClauses(f) {
				d.AddClause(c)
			}
		}
	}
}

// deleteForGood removes the live rows that match where. Foreign keys are checked row by row on
// MySQL: where they want the leaves removed first, that is what is done.
func (t *table) deleteForGood(db *gorm.DB, from, where clause.Expression) (int64, error) {
	name := clause.Table{Name: t.name}
	if !t.dialect.ChildrenFirst {
		return t.direct(db).add("DELETE FROM ? WHERE ? AND ?", from, where, t.alive).exec()
	}
	if !t.index.wantsChildrenFirst() {
		// In this form, a DELETE may name an index.
		rows, err := t.direct(db).add("DELETE ? FROM ? WHERE ? AND ?", name, from, where, t.alive).exec()
		failed, ok := errors.AsType[*mysql.MySQLError](err)
		if !ok || failed.Number != errRowReferenced && failed.Number != errRowReferenced2 {
			return rows, err
		}
		t.index.wantChildrenFirst()
	}
	return t.direct(db).add("DELETE FROM ? WHERE ? AND ? ORDER BY ? DESC", name, where, t.alive, clause.Column{Name: t.path.DBName}).exec()
}

// wantsChildrenFirst reports whether a foreign key has been found to want rows deleted from the
// leaves upwards.
func (x *pathIndex) wantsChildrenFirst() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.childrenFirst
}

// wantChildrenFirst notes that a foreign key does.
func (x *pathIndex) wantChildrenFirst() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.childrenFirst = true
}
