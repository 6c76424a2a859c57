package hold

import (
	"time"

	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
)

// Keeper takes path locks and row locks, and asserts what they are to keep.
type Keeper struct {
	*txn.Owner
	// Asserts is set unless nothing but the path locks is to keep the tree right.
	Asserts bool
	// TransactionWait is how long a write inside a transaction waits for path locks.
	TransactionWait time.Duration
}
