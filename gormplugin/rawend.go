package gormplugin

import (
	"fmt"
	"sync"

	"gorm.io/gorm"
)

// TransactionEndError says that a transaction and raw SQL that ends it do not go together: a COMMIT
// or a ROLLBACK of the caller's own, or, on MySQL and MariaDB, one of the many statements that
// commit by themselves, such as CREATE TABLE. What was asserted in the transaction, and the path
// locks that it holds, mean nothing after its end, and every later statement would be committed by
// itself. It matches [ErrUnsupported].
type TransactionEndError struct {
	// Statement is what ends the transaction: "COMMIT", "CREATE TABLE".
	Statement string
	// Ended is set where the statement was run before anything was asserted, and it is a later
	// write to a guarded table that is refused. Otherwise the statement is refused, since guarded
	// tables were asserted or written before.
	Ended bool
}

// Error implements error.
func (e *TransactionEndError) Error() string {
	if e.Ended {
		return fmt.Sprintf("%v: %s has ended the transaction, so that nothing can be asserted or written as a whole in it: run %[2]s before the transaction begins",
			ErrUnsupported, e.Statement)
	}
	return fmt.Sprintf("%v: %s would end the transaction, in which guarded tables were asserted or written: run it outside of the transaction, and end that by its Commit or Rollback",
		ErrUnsupported, e.Statement)
}

// Unwrap returns [ErrUnsupported].
func (e *TransactionEndError) Unwrap() error { return ErrUnsupported }

// rawEnd keeps raw SQL from ending a transaction that the plugin relies on, and the plugin from
// relying on one that raw SQL has ended.
type rawEnd struct {
	mu sync.Mutex
	// relied is set once a guarded table was asserted or written in the transaction.
	relied bool
	// statement is what has ended the transaction; "" as long as nothing has.
	statement string
}

// relyOn is called before a guarded table is asserted or written in the transaction.
func (e *rawEnd) relyOn() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.statement != "" {
		return &TransactionEndError{Statement: e.statement, Ended: true}
	}
	e.relied = true
	return nil
}

// end is called before a statement that ends the transaction is run.
func (e *rawEnd) end(statement string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.relied {
		return &TransactionEndError{Statement: statement}
	}
	e.statement = statement
	return nil
}

// watchEnd refuses raw SQL that would end a transaction which the plugin relies on. writes is set
// where the SQL is a write to a guarded table that the caller has allowed.
func (p *Plugin) watchEnd(db *gorm.DB, sql string, writes bool) error {
	h, ok := unwrapped(db.Statement.ConnPool).(*handle)
	if !ok || h.plugin != p {
		return nil
	}
	if writes {
		if err := h.rawEnd.relyOn(); err != nil {
			return err
		}
	}
	if statement, ends := p.dialect.grammar.EndsTransaction(sql); ends {
		return h.rawEnd.end(statement)
	}
	return nil
}
