package txn

import (
	"errors"
	"runtime"

	"gorm.io/gorm"
)

// Handle is what GORM has of a transaction. When nobody has it any more and the transaction was
// never ended, it never will be: GORM forgets one so when a hook of a single statement panics. The
// garbage collector's finding the handle then ends it, so that no lock renews itself for ever.
type Handle struct{ *Transaction }

// errForgotten is why a transaction was ended that nobody could end any more.
var errForgotten = errors.New("gormplugin: nobody committed it or rolled it back")

// newHandle returns the handle of t.
func newHandle(t *Transaction) *Handle {
	h := &Handle{t}
	// The runtime's own goroutine must not wait for a database.
	runtime.AddCleanup(h, func(t *Transaction) { go t.Abandon(errForgotten) }, t)
	return h
}

// Commit implements [gorm.TxCommitter]. The handle is in use until it returns.
func (h *Handle) Commit() error {
	defer runtime.KeepAlive(h)
	return h.Transaction.Commit()
}

// Rollback implements [gorm.TxCommitter]. The handle is in use until it returns.
func (h *Handle) Rollback() error {
	defer runtime.KeepAlive(h)
	return h.Transaction.Rollback()
}

var _ gorm.Tx = (*Handle)(nil)

// HaveRead is called where all rows of a statement have been read, and the error that may have come
// with them has been seen.
func HaveRead(connections gorm.ConnPool) {
	if h, ok := Unwrapped(connections).(*Handle); ok {
		h.unread.set(false)
	}
}
