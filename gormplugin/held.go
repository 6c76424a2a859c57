package gormplugin

import (
	"context"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
)

// held is what a statement holds in path locks, and says of itself to those who collide with them.
type held struct {
	// note says what the statement does.
	note string
	// scope and locks are who holds, and what was taken, before the transaction began.
	scope *pathlock.Scope
	locks []*pathlock.Lock
	// fence is the highest one of the locks that were taken within the transaction.
	fence uint64
}

// release lets go of what was taken before the transaction, which does not begin.
func (h *held) release(ctx context.Context) { txn.Release(ctx, h.locks) }

// handTo leaves what was taken to the transaction that has begun, until its end.
func (h *held) handTo(tx *txn.Transaction) { tx.Inherit(h.scope, h.locks) }
