package txn

import (
	"sync"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
)

// WatchEnd refuses raw SQL that would end a transaction on which the plugin relies, or a part of it
// in another form than GORM's. writes is set where the SQL writes to a guarded table with the
// caller's permission, and executed where it returns no rows.
func (g *Guard) WatchEnd(db *gorm.DB, sql string, writes, executed bool) error {
	h, ok := Unwrapped(db.Statement.ConnPool).(*Handle)
	if !ok || h.guard != g {
		return nil
	}
	if writes {
		if err := h.relyOn(); err != nil {
			return err
		}
	}
	if _, savepoint := rawsql.PlainSavepoint(sql); savepoint && executed {
		// ExecContext notes it. So it goes past all caches of prepared statements: nobody sees
		// what a cached one does, and MySQL cannot prepare this one (error 1295). GORM itself
		// avoids only one cache, and lays two around a transaction where both the DB and a
		// session of it have PrepareStmt.
		db.Statement.ConnPool = h
		return nil
	}
	if statement, ends := rawsql.EndsTransaction(g.Dialect.Grammar, sql); ends {
		return h.rawEnd.end(statement)
	}
	return nil
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

// relyOn notes that the plugin relies on the transaction from now on.
func (e *rawEnd) relyOn() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.statement != "" {
		return &fault.TransactionEndError{Statement: e.statement, Ended: true}
	}
	e.relied = true
	return nil
}

// isRelied reports whether the plugin relies on the transaction.
func (e *rawEnd) isRelied() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.relied
}

// hasEnded reports whether a statement is known to have ended the transaction.
func (e *rawEnd) hasEnded() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.statement != ""
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
