package hold

import (
	"context"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
)

// Held is what a statement holds in path locks, and says of itself to those who collide with them.
type Held struct {
	// Note says what the statement does.
	Note string
	// scope and locks are who holds, and what was taken, before the transaction began.
	scope *pathlock.Scope
	locks []*pathlock.Lock
	// Fence is the highest one of the locks that were taken within the transaction.
	Fence uint64
}

// Release lets go of what was taken before the transaction, which does not begin.
func (h *Held) Release(ctx context.Context) { txn.Release(ctx, h.locks) }

// HandTo leaves what was taken to the transaction that has begun, until its end.
func (h *Held) HandTo(tx *txn.Transaction) { tx.Inherit(h.scope, h.locks) }
