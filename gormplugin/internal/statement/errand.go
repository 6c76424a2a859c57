package statement

import (
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Errand links an operation on one row, such as Rename, with the statement that carries it out.
type Errand struct {
	ID any
	// Alone is set where the id is the statement's only condition.
	Alone bool
	// Into is the struct that gets the row's new place; invalid if the caller has none.
	Into reflect.Value
	// Along is how many rows the statement changed beside the row.
	Along int64
}

// errandKey is where a statement's errand is kept, per instance.
const errandKey = "pathlock:errand"

// ErrandOf returns a statement's errand, nil if the statement is not part of an operation.
func ErrandOf(db *gorm.DB) *Errand {
	value, _ := db.InstanceGet(errandKey)
	e, _ := value.(*Errand)
	return e
}

// Statement begins the statement, on the one live row that e is about.
func (e *Errand) Statement(db *gorm.DB, t *table.Table) *gorm.DB {
	e.Alone = len(db.Statement.Clauses) == 0 && !db.Statement.Unscoped
	return db.Model(t.Fresh()).Where(clause.Eq{Column: table.Column(t.Key), Value: e.ID}).InstanceSet(errandKey, e)
}

// Missed is the error of an errand's statement that hits no row. A statement without an errand may
// hit any number.
func (e *Errand) Missed(t *table.Table, hits int) error {
	if e == nil || hits > 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.RowName(e.ID))
}

// WentAlong counts rows that a statement changed beside those that it was to change.
func (e *Errand) WentAlong(rows int64) {
	if e != nil {
		e.Along += rows
	}
}
