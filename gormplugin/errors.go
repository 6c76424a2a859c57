package gormplugin

import (
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// The reasons for which the plugin refuses a write, beside those of package
// pathlock: [pathlock.ErrConflict], [pathlock.ErrDeadlock] and [pathlock.ErrUnavailable] when a lock is not
// granted, [pathlock.ErrPathChanged] (a [*PathChangedError]) when the
// assertion fails, [pathlock.ErrNotFound] when the parent is not there,
// [pathlock.ErrInvalidPath] when a name cannot be one.
var (
	// ErrRetry: the database gave up a transaction, or a statement of it, in favour of another one: a
	// deadlock, a lock wait that took too long, a serialisation failure, a busy
	// SQLite file; or the rows were found elsewhere than planned, where others hold the path locks. Nothing is wrong with the work: run the whole
	// transaction again, as [Transaction] does. The driver's error is wrapped.
	ErrRetry = errors.New("gormplugin: transaction must be retried")
	// ErrOutcomeUnknown: the answer to a COMMIT was lost, with the connection: the transaction was either
	// committed, all of it, or not at all. It must not simply be run again; read first what there is.
	ErrOutcomeUnknown = errors.New("gormplugin: outcome of the commit unknown")
	// ErrNameTaken: a live sibling has that name already. The error is a [*NameTakenError].
	ErrNameTaken = errors.New("gormplugin: name taken")
	// ErrWouldCycle: a move into the node's own subtree.
	ErrWouldCycle = lockspec.ErrWouldCycle
	// ErrPathTooLong: a path, of the row itself or of any descendant, or a name would be
	// longer than its column, or the tree deeper than [pathlock.MaxDepth].
	// Nothing was written.
	ErrPathTooLong = errors.New("gormplugin: path too long")
	// ErrUnmanagedTransaction: a write to a guarded table on a connection or in a transaction that the plugin did not
	// hand out, so that it cannot know when the transaction ends:
	// a session made before [gorm.DB.Use], [gorm.DB.Connection], or a pool that another plugin put in.
	ErrUnmanagedTransaction = errors.New("gormplugin: unmanaged transaction")
	// ErrUnsupported: a form of write to a guarded table that the plugin cannot keep the tree
	// right for. The message says what to use instead.
	ErrUnsupported = errors.New("gormplugin: unsupported write")
	// ErrIsolation: the transaction runs at an isolation level at which the tree cannot be kept right on this
	// database: PostgreSQL's REPEATABLE READ, or SERIALIZABLE where that is not the level of everybody. Nothing was written; the message says what to set.
	ErrIsolation = errors.New("gormplugin: unsafe isolation level")
	// ErrUnsupportedDatabase: the database is none that the tree is known to be kept right on, though it speaks the protocol of one
	// that is: TiDB, say, or CockroachDB. The error is an [*UnsupportedDatabaseError]. [gorm.DB.Use] returns it, or, where there is no
	// connection yet, the first transaction.
	ErrUnsupportedDatabase = errors.New("gormplugin: unsupported database")
)

// PathChangedError says which node was not, or could not be proved to be, where the work was planned
// to find it. It matches [pathlock.ErrPathChanged].
type PathChangedError struct {
	// Table and ID name the row.
	Table string
	ID    any
	// Planned is the path column that the work relied upon, Actual the one
	// that the database has, or that the row's ancestors say it should have. Actual is "" where the row is gone.
	Planned, Actual string
}

// Error implements error.
func (e *PathChangedError) Error() string {
	return fmt.Sprintf("%v: %s %v: planned on %q, now %q", pathlock.ErrPathChanged, e.Table, e.ID, e.Planned, e.Actual)
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
		where = fmt.Sprintf("%s: %s in %s", e.Table, e.Path, e.Tree)
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

// UnsupportedDatabaseError says which product answered in the place of a supported one. It matches [ErrUnsupportedDatabase].
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
