package txn

import (
	"database/sql"
	"errors"
	"runtime"

	"gorm.io/gorm"
)

// Handle is how GORM refers to a transaction. GORM drops the handle of a transaction that it has
// not ended when a hook of a single statement panics. The garbage collector then ends the
// transaction, so that no lock renews itself for ever.
type Handle struct{ *Transaction }

// errForgotten is why a transaction was ended to which nobody had a handle.
var errForgotten = errors.New("gormplugin: nobody committed it or rolled it back")

// newHandle returns the handle of t.
func newHandle(t *Transaction) *Handle {
	h := &Handle{t}
	// The runtime's own goroutine must not wait for a database.
	runtime.AddCleanup(h, func(t *Transaction) { go t.abandonAside(errForgotten) }, t)
	return h
}

// Commit implements [gorm.TxCommitter]. The handle is in use until it returns.
func (h *Handle) Commit() error {
	defer runtime.KeepAlive(h)
	if err := h.prepare(); err != nil {
		return err
	}
	return h.Transaction.Commit()
}

// Rollback implements [gorm.TxCommitter]. The handle is in use until it returns.
func (h *Handle) Rollback() error {
	defer runtime.KeepAlive(h)
	return h.Transaction.Rollback()
}

// GetDBConn implements [gorm.GetDBConnector].
func (h *Handle) GetDBConn() (*sql.DB, error) { return h.db, nil }

var (
	_ gorm.Tx             = (*Handle)(nil)
	_ gorm.GetDBConnector = (*Handle)(nil)
)

// Unwrapped returns the connections below GORM's caches of prepared statements. A session can lay
// one cache around another.
func Unwrapped(connections gorm.ConnPool) gorm.ConnPool {
	for {
		switch c := connections.(type) {
		case *gorm.PreparedStmtTX:
			connections = c.Tx
		case *gorm.PreparedStmtDB:
			connections = c.ConnPool
		default:
			return connections
		}
	}
}
