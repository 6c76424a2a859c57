package write

import (
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// Operation links an operation on one row, such as Rename, with the statement that carries it out.
type Operation struct {
	ID any
	// Alone is set where the id is the statement's only condition.
	Alone bool
	// Into is the struct that gets the row's new place; invalid if the caller has none.
	Into reflect.Value
	// Along is how many rows the statement changed beside the row.
	Along int64
}

// operationKey is where the operation that a statement is part of is kept, per instance.
const operationKey = "pathlock:operation"

// operationOf returns the operation that a statement is part of, nil if there is none.
func operationOf(db *gorm.DB) *Operation {
	value, _ := db.InstanceGet(operationKey)
	op, _ := value.(*Operation)
	return op
}

// Statement begins the statement, on the one live row that op is about.
func (op *Operation) Statement(db *gorm.DB, t *table.Table) *gorm.DB {
	op.Alone = len(db.Statement.Clauses) == 0 && !db.Statement.Unscoped
	return db.Model(t.Fresh()).Where(clause.Eq{Column: table.Column(t.Key), Value: op.ID}).InstanceSet(operationKey, op)
}

// missed is the error of an operation's statement that hits no row. Any other statement may hit any
// number.
func (op *Operation) missed(t *table.Table, hits int) error {
	if op == nil || hits > 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", pathlock.ErrNotFound, t.RowName(op.ID))
}

// wentAlong counts rows that a statement changed beside those that it was to change.
func (op *Operation) wentAlong(rows int64) {
	if op != nil {
		op.Along += rows
	}
}
