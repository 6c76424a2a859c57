package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
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
	ErrRetry = fault.ErrRetry
	// ErrOutcomeUnknown: the answer to a COMMIT was lost, with the connection: the transaction was
	// either committed, all of it, or not at all. It must not simply be run again; read first what
	// there is.
	ErrOutcomeUnknown = fault.ErrOutcomeUnknown
	// ErrNameTaken: a live sibling has that name already. The error is a [*NameTakenError].
	ErrNameTaken = fault.ErrNameTaken
	// ErrRootRow: a tree has either a root row, and then no other row at the top, or no root row. A
	// row cannot be put at the top beside the root row: state that as its parent. Nor can a root
	// row be put into a tree that has rows. The error is a [*RootRowError].
	ErrRootRow = fault.ErrRootRow
	// ErrWouldCycle: a move into the node's own subtree.
	ErrWouldCycle = lockspec.ErrWouldCycle
	// ErrPathTooLong: a path, of the row itself or of any descendant, or a name would be
	// longer than its column, or the tree too deep: a [*TooDeepError].
	// Nothing was written.
	ErrPathTooLong = fault.ErrPathTooLong
	// ErrUnmanagedTransaction: a write to a guarded table on a connection or in a transaction that
	// the plugin did not hand out, so that it cannot know when the transaction ends: a session made
	// before [gorm.DB.Use], [gorm.DB.Connection], or a pool that another plugin put in.
	ErrUnmanagedTransaction = fault.ErrUnmanagedTransaction
	// ErrUnsupported: a form of write to a guarded table that the plugin cannot keep the tree
	// right for. The message says what to use instead.
	ErrUnsupported = fault.ErrUnsupported
	// ErrStale: a Save would have renamed or moved a row, and its UPDATE did not hit it though the
	// row is there: the version of an optimistic lock is another by now, or a further condition
	// does not hold. GORM would go on with an upsert, past that condition. Nothing was written;
	// read the row again.
	ErrStale = fault.ErrStale
	// ErrMissedRows: a write hit other rows than those that were locked and checked for it, because
	// of a condition that somebody added in between, a trigger or a policy of the database. The
	// error is a [*MissedRowsError], and the transaction was rolled back.
	ErrMissedRows = fault.ErrMissedRows
	// ErrCallbacks: the callbacks of another plugin leave no way to tell what a statement writes:
	// it has replaced GORM's own writing callback after this plugin was registered, has built the
	// statement's SQL itself, or has changed its table. Nothing was written.
	ErrCallbacks = fault.ErrCallbacks
	// ErrNoRequestContext: a statement in a handler stands in its own request's way: the request
	// holds locks, and the statement's context does not carry them. Nothing was written.
	ErrNoRequestContext = fault.ErrNoRequestContext
	// ErrIsolation: the transaction runs at an isolation level at which the tree cannot be kept
	// right on this database: PostgreSQL's REPEATABLE READ, or SERIALIZABLE where that is not the
	// level of everybody. Nothing was written; the message says what to set.
	ErrIsolation = fault.ErrIsolation
	// ErrUnsupportedDatabase: the database is none that the tree is known to be kept right on,
	// though it speaks the protocol of one that is: TiDB, say, or CockroachDB. The error is an
	// [*UnsupportedDatabaseError]. [gorm.DB.Use] returns it, or, where there is no connection yet,
	// the first transaction.
	ErrUnsupportedDatabase = fault.ErrUnsupportedDatabase
)

// PathChangedError says which node was not, or could not be proved to be, where the work was
// planned to find it. It matches [pathlock.ErrPathChanged].
//
// Table and ID name the row. Planned is the path column that the work relied upon, Actual the one
// that the database has, or that the row's ancestors say it should have; Actual is "" where the row
// is gone.
type PathChangedError = fault.PathChangedError

// NameTakenError says where two siblings would have had one name. It matches
// [ErrNameTaken] and the database's own error.
//
// Tree and Path are the name slot in Table; zero where the statement wrote several rows and the
// database did not say which of them collided. Err is the database's error, nil where the collision
// was seen before.
type NameTakenError = fault.NameTakenError

// TooDeepError says by how much a tree would be too deep: see [MaxDepth]. It matches
// [ErrPathTooLong].
//
// Path is the path column that the row of Table would get, and Depth how many names the path of the
// row, or of one below it, would have; at most Limit are allowed.
type TooDeepError = fault.TooDeepError

// RootRowError says what is in the way of a row that was to be put at the top of a tree. It matches
// [ErrRootRow] and [ErrUnsupported].
//
// Table and Tree say which tree. ID is the row in the way, nil where it is of the same statement or
// not known; Root is set if it is the root row.
type RootRowError = fault.RootRowError

// MissedRowsError says how many rows a write should have hit, and how many it did. It matches
// [ErrMissedRows].
//
// Of the rows of Table, Planned were locked and checked, and Written were written.
type MissedRowsError = fault.MissedRowsError

// UnsupportedDatabaseError says which product answered in the place of a supported one. It matches
// [ErrUnsupportedDatabase].
//
// Product is its name, Version what it answered itself, and Why the reason.
type UnsupportedDatabaseError = fault.UnsupportedDatabaseError

// RawWriteError says which raw SQL was refused: it would have gone past the plugin. Nothing of it
// has run. It matches [ErrUnsupported].
//
// Table is the guarded table, as the SQL names it, and Statement the kind of write: "UPDATE",
// "INSERT", "DELETE".
type RawWriteError = fault.RawWriteError

// TransactionEndError says that a transaction and raw SQL that ends it do not go together: a COMMIT
// or a ROLLBACK of the caller's own, or, on MySQL and MariaDB, one of the many statements that
// commit by themselves, such as CREATE TABLE. What was asserted in the transaction, and the path
// locks that it holds, mean nothing after its end, and every later statement would be committed by
// itself. It matches [ErrUnsupported].
//
// Statement is what ends the transaction: "COMMIT", "CREATE TABLE". Ended is set where the
// statement was run before anything was asserted, and it is a later write to a guarded table that
// is refused. Otherwise the statement is refused, since guarded tables were asserted or written
// before.
type TransactionEndError = fault.TransactionEndError
