package gormplugin

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/lockspec"
)

// The reasons for which the plugin refuses a write, beside those of package pathlock:
// [pathlock.ErrConflict], [pathlock.ErrDeadlock] and [pathlock.ErrUnavailable] when a lock is not
// granted, [pathlock.ErrPathChanged] (a [*PathChangedError]) when the assertion fails,
// [pathlock.ErrNotFound] when the parent is not there, [pathlock.ErrInvalidPath] when a name cannot
// be one.
var (
	// ErrRetry: the database gave up a transaction, or a statement of it, in favour of another one:
	// a deadlock, a lock wait that took too long, a serialisation failure, a busy SQLite file, a
	// table of PostgreSQL that has been altered since its statement was prepared; or the rows were
	// found elsewhere than planned, where others hold the path locks. Nothing is
	// wrong with the work: run the whole transaction again, as [Transaction] does. The driver's
	// error is wrapped.
	ErrRetry = pathlock.FailureLocked.New("gormplugin: transaction must be retried")
	// ErrOutcomeUnknown: the answer to a COMMIT was lost, with the connection: the transaction was
	// either committed, all of it, or not at all. It must not simply be run again; read first what
	// there is.
	ErrOutcomeUnknown = pathlock.FailureOutcomeUnknown.New("gormplugin: outcome of the commit unknown")
	// ErrNameTaken: a live sibling has that name already. The error is a [*NameTakenError].
	ErrNameTaken = pathlock.FailureNameTaken.New("gormplugin: name taken")
	// ErrRootRow: a tree has either a root row, and then no other row at the top, or no root row. A
	// row cannot be put at the top beside the root row: state that as its parent. Nor can a root
	// row be put into a tree that has rows. The error is a [*RootRowError].
	ErrRootRow = pathlock.FailureInvalid.New("gormplugin: a root row is the only row at the top")
	// ErrWouldCycle: a move into the node's own subtree.
	ErrWouldCycle = lockspec.ErrWouldCycle
	// ErrPathTooLong: a path, of the row itself or of any descendant, or a name would be
	// longer than its column, or the tree too deep: a [*TooDeepError].
	// Nothing was written.
	ErrPathTooLong = pathlock.FailureInvalid.New("gormplugin: path too long")
	// ErrUnmanagedTransaction: a write to a guarded table on a connection or in a transaction that
	// the plugin did not hand out, so that it cannot know when the transaction ends: a session made
	// before [gorm.DB.Use], [gorm.DB.Connection], or a pool that another plugin put in.
	ErrUnmanagedTransaction = errors.New("gormplugin: unmanaged transaction")
	// ErrUnsupported: a form of write to a guarded table that the plugin cannot keep the tree
	// right for. The message says what to use instead.
	ErrUnsupported = errors.New("gormplugin: unsupported write")
	// ErrStale: a Save would have renamed or moved a row, and its UPDATE did not hit it though the
	// row is there: the version of an optimistic lock is another by now, or a further condition
	// does not hold. GORM would go on with an upsert, past that condition. Nothing was written; read
	// the row again.
	ErrStale = pathlock.FailureStale.New("gormplugin: stale row")
	// ErrMissedRows: a write hit other rows than those that were locked and checked for it, because
	// of a condition that somebody added in between, a trigger or a policy of the database. The
	// error is a [*MissedRowsError], and the transaction was rolled back.
	ErrMissedRows = errors.New("gormplugin: a write missed rows")
	// ErrCallbacks: the callbacks of another plugin leave no way to tell what a statement writes:
	// it has replaced GORM's own writing callback after this plugin was registered, has built the
	// statement's SQL itself, or has changed its table. Nothing was written.
	ErrCallbacks = errors.New("gormplugin: another plugin's callbacks are in the way")
	// ErrNoRequestContext: a statement in a handler stands in its own request's way: the request holds
	// locks, and the statement's context does not carry them. Nothing was written.
	ErrNoRequestContext = errors.New("gormplugin: this handler's request holds locks that the statement's context does not carry: use db.WithContext(c.Request.Context())")
	// ErrIsolation: the transaction runs at an isolation level at which the tree cannot be kept
	// right on this database: PostgreSQL's REPEATABLE READ, or SERIALIZABLE where that is not the
	// level of everybody. Nothing was written; the message says what to set.
	ErrIsolation = pathlock.FailureDatabase.New("gormplugin: unsafe isolation level")
	// ErrUnsupportedDatabase: the database is none that the tree is known to be kept right on,
	// though it speaks the protocol of one that is: TiDB, say, or CockroachDB. The error is an
	// [*UnsupportedDatabaseError]. [gorm.DB.Use] returns it, or, where there is no connection yet,
	// the first transaction.
	ErrUnsupportedDatabase = pathlock.FailureDatabase.New("gormplugin: unsupported database")
)

// PathChangedError says which node was not, or could not be proved to be, where the work was
// planned to find it. It matches [pathlock.ErrPathChanged].
type PathChangedError struct {
	// Table and ID name the row.
	Table string
	ID    any
	// Planned is the path column that the work relied upon, Actual the one that the database has,
	// or that the row's ancestors say it should have. Actual is "" where the row is gone.
	Planned, Actual string
}

// Error implements error.
func (e *PathChangedError) Error() string {
	return fmt.Sprintf("%v: %s %s: planned on %q, now %q", pathlock.ErrPathChanged, e.Table, shown.ID(e.ID), shown.Cut(e.Planned), shown.Cut(e.Actual))
}

// Unwrap returns [pathlock.ErrPathChanged].
func (e *PathChangedError) Unwrap() error { return pathlock.ErrPathChanged }

// NameTakenError says where two siblings would have had one name. It matches
// [ErrNameTaken] and the database's own error.
type NameTakenError struct {
	Table string
	// Tree and Path are the name slot; zero where the statement wrote several rows
	// and the database did not say which of them collided.
	Tree pathlock.Tree
	Path pathlock.Path
	// Err is the database's error, nil where the collision was seen before.
	Err error
}

// Error implements error.
func (e *NameTakenError) Error() string {
	where := e.Table
	if !e.Tree.IsZero() {
		where = fmt.Sprintf("%s: %s in %s", e.Table, shown.Text(e.Path.String()), e.Tree)
	}
	if e.Err == nil {
		return fmt.Sprintf("%v: %s", ErrNameTaken, where)
	}
	return fmt.Sprintf("%v: %s: %v", ErrNameTaken, where, e.Err)
}

// Unwrap returns [ErrNameTaken] and, if there is one, Err.
func (e *NameTakenError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrNameTaken}
	}
	return []error{ErrNameTaken, e.Err}
}

// TooDeepError says by how much a tree would be too deep: see [MaxDepth]. It matches
// [ErrPathTooLong].
type TooDeepError struct {
	Table string
	// Path is the path column that the row would get, and Depth how many names the path of the row,
	// or of one below it, would have; at most Limit are allowed.
	Path         string
	Depth, Limit int
}

// Error implements error.
func (e *TooDeepError) Error() string {
	return fmt.Sprintf("%v: %s: a row would lie %d names deep, at or below %.80q: at most %d are allowed", ErrPathTooLong, e.Table, e.Depth, e.Path, e.Limit)
}

// Unwrap returns [ErrPathTooLong].
func (e *TooDeepError) Unwrap() error { return ErrPathTooLong }

// RootRowError says what is in the way of a row that was to be put at the top of a tree. It matches
// [ErrRootRow] and [ErrUnsupported].
type RootRowError struct {
	Table string
	Tree  pathlock.Tree
	// ID is the row in the way, nil where it is of the same statement or not known; Root is set if
	// it is the root row.
	ID   any
	Root bool
}

// Error implements error.
func (e *RootRowError) Error() string {
	switch {
	case e.ID == nil:
		return fmt.Sprintf("%v: %s: the top of %s has room for a root row or for others, not for both", ErrRootRow, e.Table, e.Tree)
	case e.Root:
		return fmt.Sprintf("%v: %s: %s has the root row %s: put the row below that", ErrRootRow, e.Table, e.Tree, shown.ID(e.ID))
	default:
		return fmt.Sprintf("%v: %s: %s has rows already, such as %s, and cannot get a root row", ErrRootRow, e.Table, e.Tree, shown.ID(e.ID))
	}
}

// Unwrap returns [ErrRootRow] and [ErrUnsupported].
func (e *RootRowError) Unwrap() []error { return []error{ErrRootRow, ErrUnsupported} }

// MissedRowsError says how many rows a write should have hit, and how many it did. It matches
// [ErrMissedRows].
type MissedRowsError struct {
	Table            string
	Planned, Written int64
}

// Error implements error.
func (e *MissedRowsError) Error() string {
	return fmt.Sprintf("%v: %s: %d were locked and checked, %d were written: look for a trigger, a policy or a column type that adds a condition of its own; the transaction was rolled back",
		ErrMissedRows, e.Table, e.Planned, e.Written)
}

// Unwrap returns [ErrMissedRows].
func (e *MissedRowsError) Unwrap() error { return ErrMissedRows }

// UnsupportedDatabaseError says which product answered in the place of a supported one. It matches
// [ErrUnsupportedDatabase].
type UnsupportedDatabaseError struct {
	// Product is its name, and Version what it answered itself.
	Product, Version string
	// Why is the reason.
	Why string
}

// Error implements error.
func (e *UnsupportedDatabaseError) Error() string {
	return fmt.Sprintf("%v: %s (%q): %s: use MySQL, MariaDB, PostgreSQL or SQLite", ErrUnsupportedDatabase, e.Product, e.Version, e.Why)
}

// Unwrap returns [ErrUnsupportedDatabase].
func (e *UnsupportedDatabaseError) Unwrap() error { return ErrUnsupportedDatabase }

// retry wraps a database error as one that asks for the transaction to be run again.
func retry(err error) error { return fmt.Errorf("%w: %w", ErrRetry, err) }

// unsupported says why a write is refused and what to use.
func unsupported(t *table, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrUnsupported, t.name, fmt.Sprintf(format, args...))
}
