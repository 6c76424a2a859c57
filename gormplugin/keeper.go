package gormplugin

import (
	"time"

	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
)

// keeper takes path locks and row locks, and asserts what they are to keep.
type keeper struct {
	*txn.Owner
	// assert is set unless nothing but the path locks is to keep the tree right.
	assert bool
	// transactionWait is how long a write inside a transaction waits for path locks.
	transactionWait time.Duration
}
