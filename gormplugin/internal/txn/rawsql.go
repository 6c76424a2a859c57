package txn

import (
	"sync"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// WatchEnd refuses raw SQL that would end a transaction on which the plugin relies. writes is set
// where the SQL writes to a guarded table with the caller's permission.
func (o *Owner) WatchEnd(db *gorm.DB, sql string, writes bool) error {
	h, ok := Unwrapped(db.Statement.ConnPool).(*Handle)
	if !ok || h.owner != o {
		return nil
	}
	if writes {
		if err := h.rawEnd.relyOn(); err != nil {
			return err
		}
	}
	if statement, ends := o.Dialect.Grammar.EndsTransaction(sql); ends {
		return h.rawEnd.end(statement)
	}
	return nil
}

// goesBack reports whether sql does anything with a savepoint, or may do so.
func (o *Owner) goesBack(sql string) bool {
	steps, _ := o.Dialect.Grammar.Savepoints(sql)
	return len(steps) > 0 || o.Dialect.Grammar.MayGoBackUnseen(sql)
}

// cachedKey is the setting that has the connections that a savepoint's statement was given.
const cachedKey = "pathlock:prepared"

// BareSavepoint sends a savepoint's statement past all caches of prepared statements. Nobody sees
// what a cached statement does, and MySQL cannot prepare this one (error 1295). GORM itself avoids
// only one cache, and lays two around a transaction where both the DB and a session of it have
// PrepareStmt.
func (o *Owner) BareSavepoint(db *gorm.DB) {
	prepared, ok := db.Statement.ConnPool.(*gorm.PreparedStmtTX)
	if ok && o.goesBack(db.Statement.SQL.String()) {
		db.InstanceSet(cachedKey, prepared)
		db.Statement.ConnPool = Unwrapped(prepared)
	}
}

// CachedAgain undoes BareSavepoint, as the session may run further statements.
func CachedAgain(db *gorm.DB) {
	if prepared, ok := db.InstanceGet(cachedKey); ok && prepared != nil {
		db.InstanceSet(cachedKey, nil)
		db.Statement.ConnPool = prepared.(*gorm.PreparedStmtTX)
	}
}

// rawEnd keeps raw SQL from ending a transaction on which the plugin relies, and the plugin from
// relying on one that raw SQL has ended.
type rawEnd struct {
	mu sync.Mutex
	// relied is set once a guarded table was asserted or written in the transaction, or a function
	// is to be called before its COMMIT or after its end.
	relied bool
	// statement has ended the transaction; "" as long as none has.
	statement string
}

// relyOn is called before a guarded table is asserted or written in the transaction, and before a
// function is added that is called after its end.
func (e *rawEnd) relyOn() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.statement != "" {
		return &fault.TransactionEndError{Statement: e.statement, Ended: true}
	}
	e.relied = true
	return nil
}

// end is called before a statement that ends the transaction is run.
func (e *rawEnd) end(statement string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.relied {
		return &fault.TransactionEndError{Statement: statement}
	}
	e.statement = statement
	return nil
}
