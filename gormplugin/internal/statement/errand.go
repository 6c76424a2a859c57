package statement

import (
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Errand is what an operation on one row asks of the statement that does it, and what it learns
// from it.
type Errand struct {
	ID any
	// Alone is set where no condition but the id says which row is meant.
	Alone bool
	// Into is the struct that is told where the row is then; invalid if the caller has none.
	Into reflect.Value
	// Along is how many rows went along with the row.
	Along int64
}

// errandKey is where a statement's errand is kept, per instance.
const errandKey = "pathlock:errand"

// ErrandOf returns what a statement was sent for, nil if it is not part of an operation.
func ErrandOf(db *gorm.DB) *Errand {
	if value, ok := db.InstanceGet(errandKey); ok {
		e, _ := value.(*Errand)
		return e
	}
	return nil
}

// Statement begins the statement, on the one live row that e is about.
func (e *Errand) Statement(db *gorm.DB, t *table.Table) *gorm.DB {
	e.Alone = len(db.Statement.Clauses) == 0 && !db.Statement.Unscoped
	return db.Model(t.Fresh()).Where(clause.Eq{Column: table.Column(t.Key), Value: e.ID}).InstanceSet(errandKey, e)
}

// Missed is the error of a statement that hits nothing, where it should hit a row. A statement
// without an errand may hit as many as it likes.
func (e *Errand) Missed(t *table.Table, hits int) error {
	if e == nil || hits > 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.RowName(e.ID))
}

// WentAlong counts rows that a statement changed beside those that it was told to.
func (e *Errand) WentAlong(rows int64) {
	if e != nil {
		e.Along += rows
	}
}
