package txn

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
)

// Transaction is a database transaction that knows when it has really ended, and releases its path
// locks only then. If the answer to its COMMIT is lost, it cannot know, and releases them as well:
// the assertion protects whoever comes next.
type Transaction struct {
	*sql.Tx
	guard *Guard
	// db is where conn belongs.
	db *sql.DB
	// conn is what the transaction runs on; closing it gives the connection back to the pool.
	conn *sql.Conn
	// ctx is the context that the transaction was begun under.
	ctx context.Context
	// live ends with ctx, and does not look at the clock of a lease. given is ctx, or nil if that
	// cannot be compared.
	live, given context.Context
	// cancel ends live, and the context that database/sql began the transaction with.
	cancel context.CancelFunc
	// unwatch stops waiting for the end of ctx.
	unwatch func() bool
	// before are the functions to call before the COMMIT, and preparation is how far they are.
	before      *beforeCommit
	preparation atomic.Uint32

	// ending is held while the transaction is committed or rolled back, so that only one of the two
	// happens, once.
	ending sync.Mutex
	ended  bool
	// cause is why the transaction ended before its Commit or Rollback was called, nil if it did
	// not.
	cause error

	mu sync.Mutex
	// scope owns the transaction's locks; nil until there are any.
	scope *pathlock.Scope
	// locks are released at the end, the last one first. The first of them, as many as merged says,
	// were handed to [pathlock.Merge].
	locks  []*pathlock.Lock
	merged int
	// closed is set once the locks have been released.
	closed bool
	after  afterwards
	// aborted is the failure of a statement that the database wants rolled back before it runs
	// another.
	aborted error
	// relied is set once a guarded table was asserted or written in the transaction, or a function
	// is to be called before its COMMIT or after its end. endedBy is the raw SQL that has ended it;
	// "" as long as none has.
	relied  bool
	endedBy string

	// Writing is held while a statement is planned, asserted and written: goroutines may share the
	// transaction, and neither path locks nor row locks keep them apart.
	Writing sync.Mutex
	// IsWriter is set once the transaction is known to be the database's only writer.
	IsWriter atomic.Bool
	// wrote is set once the transaction may have written something.
	wrote atomic.Bool
	// rows are those of the last query, which may still be open.
	rows atomic.Pointer[sql.Rows]
	// unseen is set while nobody knows how the scan of a single row has ended.
	unseen atomic.Bool
	// troubled is set once a statement has failed as if the connection were lost.
	troubled atomic.Bool
	// readOnly is set once a statement has failed because the session only reads. The session must
	// not go back to the pool.
	readOnly atomic.Bool
}

// newTransaction watches over tx until it ends.
func newTransaction(ctx, live context.Context, p *pool, conn *sql.Conn, tx *sql.Tx, cancel context.CancelFunc) *Transaction {
	t := &Transaction{Tx: tx, guard: p.guard, db: p.DB, conn: conn, ctx: ctx, live: live, cancel: cancel, before: beforeCommitOf(ctx)}
	// What is called before the COMMIT has to see the end of the transaction.
	t.relied = t.before != nil
	t.ending.Lock()
	defer t.ending.Unlock()
	if reflect.ValueOf(ctx).Comparable() {
		t.given = ctx
	}
	t.unwatch = context.AfterFunc(live, func() { t.failAside(context.Cause(ctx)) })
	return t
}

// HasScope reports whether scope came with the context that the transaction was begun under.
func (t *Transaction) HasScope(scope *pathlock.Scope) bool {
	return t.guard.Locker.Scope(t.ctx) == scope
}

// Inherit gives the transaction, which has just begun, the locks that were taken for its statement
// before.
func (t *Transaction) Inherit(scope *pathlock.Scope, locks []*pathlock.Lock) {
	t.scope = scope
	t.ReleaseAtEnd(locks...)
}

// ScopeFor returns the scope that owns the locks of a statement: the one that its context carries,
// if any, and otherwise the one scope of the transaction. So the statements of a transaction never
// block each other.
func (t *Transaction) ScopeFor(ctx context.Context) *pathlock.Scope {
	locker := t.guard.Locker
	scope := locker.Scope(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if scope != t.scope && locker.Scope(ctx) == scope {
		t.scope = cmp.Or(t.scope, scope)
		return scope // ctx carries it: otherwise the second call would have made another one
	}
	if t.scope == nil {
		t.scope = locker.Scope(t.ctx)
	}
	return t.scope
}

// Handle is how GORM refers to a transaction. GORM drops the handle of a transaction that it has
// not ended when a hook of a single statement panics. The garbage collector then ends the
// transaction, so that no lock renews itself for ever.
type Handle struct{ *Transaction }

// errForgotten is why a transaction was ended to which nobody had a handle.
var errForgotten = errors.New("gormplugin: it was neither committed nor rolled back")

// newHandle returns the handle of t.
func newHandle(t *Transaction) *Handle {
	h := &Handle{t}
	// The runtime's own goroutine must not wait for a database.
	runtime.AddCleanup(h, func(t *Transaction) { go t.failAside(errForgotten) }, t)
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
