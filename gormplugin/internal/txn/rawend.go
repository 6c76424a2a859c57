package txn

import (
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
		return h.endsBy(statement)
	}
	return nil
}

// Raw SQL must not end a transaction on which the plugin relies, and the plugin must not rely on
// one that raw SQL has ended.

// relyOn is called before a guarded table is asserted or written in the transaction, and before a
// function is added that is called after its end.
func (t *Transaction) relyOn() error {
	t.mu.Lock()
	ended := t.endedBy
	t.relied = t.relied || ended == ""
	t.mu.Unlock()
	if ended != "" {
		return &fault.TransactionEndError{Statement: ended, Ended: true}
	}
	t.settleRows()
	return t.Failed()
}

// endsBy is called before a statement that ends the transaction is run.
func (t *Transaction) endsBy(statement string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.relied {
		return &fault.TransactionEndError{Statement: statement}
	}
	t.endedBy = statement
	return nil
}

// reliance reports whether the plugin relies on the transaction, and whether a statement is known
// to have ended it.
func (t *Transaction) reliance() (relied, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.relied, t.endedBy != ""
}
