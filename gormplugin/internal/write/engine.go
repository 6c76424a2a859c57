package write

import (
	"time"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// Engine carries out the writes of one DB: it knows the guarded tables, and begins transactions.
type Engine struct {
	*txn.Owner
	*table.Catalogue
	// Asserts is set unless the path locks alone are to keep the tree right.
	Asserts bool
	// Tripwire is set unless all writes by raw SQL may pass.
	Tripwire bool
	// TransactionWait is how long a write inside a transaction waits for path locks.
	TransactionWait time.Duration
	// MaxTries bounds how often a statement in a transaction of its own is tried.
	MaxTries int
}

// Writers returns the writers of a DB's three chains.
func (e *Engine) Writers(db *gorm.DB) (create, update, remove *Writer) {
	cb := db.Callback()
	create = &Writer{Name: "gorm:create", Chain: cb.Create().Get, Kind: func() Kind { return &inserting{Engine: e} }, Operation: "insert", Note: "insert into "}
	update = &Writer{Name: "gorm:update", Chain: cb.Update().Get, Kind: func() Kind { return &updating{Engine: e} }, Operation: "update", Note: "update of "}
	remove = &Writer{Name: "gorm:delete", Chain: cb.Delete().Get, Kind: func() Kind { return &deleting{Engine: e} }, Deletes: true, Operation: "delete", Note: "delete from "}
	return create, update, remove
}
