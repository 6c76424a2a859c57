package txn

import (
	"sync"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
)

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
