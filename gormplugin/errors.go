package gormplugin

import (
	"errors"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/lockspec"
	"gorm.io/gorm"
)

// The reasons why the plugin refuses a write, besides those of package pathlock:
// [pathlock.ErrConflict], [pathlock.ErrDeadlock] and [pathlock.ErrUnavailable] when a lock is not
// granted, [pathlock.ErrPathChanged] (a [*PathChangedError]) when the assertion fails,
// [pathlock.ErrNotFound] when the parent is not there, [pathlock.ErrInvalidPath] when a name cannot
// be one.
var (
	// ErrRetry: the database aborted a transaction, or a statement of it, because of another one: a
	// deadlock, a lock wait that took too long, a serialisation failure, a busy SQLite file, or a
	// PostgreSQL table altered since its statement was prepared. Or the rows were elsewhere than
	// planned, where others hold the path locks. The work itself is not at fault: run the whole
	// transaction again, as [Transaction] does. The driver's error is wrapped.
	ErrRetry = fault.ErrRetry
	// ErrOutcomeUnknown: the answer to a COMMIT was lost with the connection. The transaction was
	// committed as a whole, or not at all. Before you run it again, read which of the two happened.
	ErrOutcomeUnknown = fault.ErrOutcomeUnknown
	// ErrNameTaken: a live sibling has that name already. The error is a [*NameTakenError].
	ErrNameTaken = fault.ErrNameTaken
	// ErrMisplaced: a row cannot have the requested place: a parent in another tree, a leaf without
	// a parent, or another place or name for a root row. The error is a [*MisplacedError], and
	// matches [ErrUnsupported], too.
	ErrMisplaced = fault.ErrMisplaced
	// ErrRootRow: a tree has either a root row, and then no other row at the top, or no root row. A
	// row cannot be put at the top beside a root row: make the root row its parent. Nor can a root
	// row be put into a tree that has rows. The error is a [*RootRowError].
	ErrRootRow = fault.ErrRootRow
	// ErrWouldCycle: a move into the node's own subtree.
	ErrWouldCycle = lockspec.ErrWouldCycle
	// ErrPathTooLong: a path, of the row itself or of any descendant, or a name would be longer
	// than its column, or the tree would be too deep: a [*TooDeepError]. Nothing was written.
	ErrPathTooLong = fault.ErrPathTooLong
	// ErrUnmanagedTransaction: a write to a guarded table used a connection or a transaction that
	// the plugin did not hand out, so the plugin cannot know when the transaction ends. It came
	// from a session made before [gorm.DB.Use], from [gorm.DB.Connection], or from another plugin's
	// pool.
	ErrUnmanagedTransaction = fault.ErrUnmanagedTransaction
	// ErrUnsupported: the plugin cannot keep the tree right under this form of write to a guarded
	// table. The message says what to use instead.
	ErrUnsupported = fault.ErrUnsupported
	// ErrStale: a Save would have renamed or moved a row, or states an outdated path, but its
	// UPDATE did not hit the row though it is there. The version of an optimistic lock has changed,
	// another condition does not hold, or the row is deleted. GORM would go on with an upsert,
	// which bypasses that condition. Nothing was written, associations included, unless the row
	// changed between the UPDATE and the upsert, which are two transactions: Save in a transaction
	// if that matters. Read the row again. The same goes for an Updates of a whole struct with
	// Select("*").
	ErrStale = fault.ErrStale
	// ErrDamagedRow: a row of the database has an impossible tree, name or path, so nobody knows
	// where the row is. The request is not to blame. The error is a [*DamagedRowError]; package
	// fsck finds such rows, and repairs them. Not every write notices: a move or a deletion finds
	// the rows below by their paths, and misses one with a wrong path.
	ErrDamagedRow = fault.ErrDamagedRow
	// ErrMissedRows: a write changed other rows than those locked and checked for it, because of a
	// condition that somebody added in between, or a trigger or policy of the database. The error
	// is a [*MissedRowsError], and the transaction was rolled back.
	ErrMissedRows = fault.ErrMissedRows
	// ErrCallbacks: because of another plugin's callbacks, this plugin cannot know what a statement
	// writes. The other plugin replaced GORM's own write callback after this one was registered,
	// built the statement's SQL itself, or changed its table. Nothing was written.
	ErrCallbacks = fault.ErrCallbacks
	// ErrNoRequestContext: a statement whose context carries no locks waited in vain for the locks
	// of a request that this process serves. If the statement belongs to that request's handler, it
	// lacks the request's context. The error also matches [pathlock.ErrConflict], since a job in
	// the same process may have met the request by chance. Nothing was written.
	ErrNoRequestContext = fault.ErrNoRequestContext
	// ErrIsolation: at the transaction's isolation level, this database cannot keep the tree right:
	// PostgreSQL's REPEATABLE READ, or SERIALIZABLE if not everybody uses it. Nothing was written;
	// the message says what to set.
	ErrIsolation = fault.ErrIsolation
	// ErrUnsupportedDatabase: the database only speaks the protocol of a supported one, as TiDB and
	// CockroachDB do, and is not known to keep a tree right; or the plugin cannot read its driver's
	// errors, such as those of go-mysql-org/go-mysql. The error is an [*UnsupportedDatabaseError].
	// [gorm.DB.Use] returns it or, if there is no connection yet, the first transaction.
	ErrUnsupportedDatabase = fault.ErrUnsupportedDatabase
)

// PathChangedError names a node that was not where the plan expected it, or that could not be
// proved to be there. It matches [pathlock.ErrPathChanged].
//
// Table and ID name the row, which may be one above. Planned is the path column, or the path of
// ids, that the work relied on. Actual is the one that the database has, or that follows from the
// row's ancestors; it is "" if the row is gone.
type PathChangedError = fault.PathChangedError

// NameTakenError says where two siblings would have had one name. It matches [ErrNameTaken] and the
// database's own error.
//
// Tree and Path are the name slot in Table; zero if the statement wrote several rows and the
// database did not say which of them collided. Err is the database's error, nil if the plugin saw
// the collision first.
type NameTakenError = fault.NameTakenError

// TooDeepError says by how much a tree would be too deep: see [MaxDepth]. It matches
// [ErrPathTooLong].
//
// Path is the path column that the row of Table would get, and Depth how many names the path of the
// row, or of one below it, would have; at most Limit are allowed.
type TooDeepError = fault.TooDeepError

// RootRowError says why a row cannot be put at the top of a tree. It matches [ErrRootRow] and
// [ErrUnsupported].
//
// Table and Tree say which tree. ID is the row in the way, nil if it is of the same statement or
// not known; Root is set if it is the root row.
type RootRowError = fault.RootRowError

// MisplacedError says why a row of Table cannot have the requested place. It matches [ErrMisplaced]
// and [ErrUnsupported].
type MisplacedError = fault.MisplacedError

// DamagedRowError says which row of the database has an impossible tree, name or path. It matches
// [ErrDamagedRow].
//
// Table and ID name the row, and Err says what is wrong. The error does not match Err.
type DamagedRowError = fault.DamagedRowError

// MissedRowsError says how many rows a write should have changed, and how many it did. It matches
// [ErrMissedRows].
//
// Of the rows of Table, Planned were locked and checked, and Written were written.
type MissedRowsError = fault.MissedRowsError

// UnsupportedDatabaseError says which product answered instead of a supported one. It matches
// [ErrUnsupportedDatabase].
//
// Product is its name, Version what it answered itself, and Why the reason.
type UnsupportedDatabaseError = fault.UnsupportedDatabaseError

// RawWriteError says which raw SQL was refused: it names a guarded table, and does not plainly read
// or define, so it may bypass the plugin. No part of it has run. It matches [ErrUnsupported].
//
// Table is the guarded table, without its schema, "" if the SQL may hide which. Statement is the
// first word: "UPDATE", "WITH", "ALTER" for one that GORM's AutoMigrate may have made, or "SCRIPT"
// for several statements and texts that can be read in several ways.
type RawWriteError = fault.RawWriteError

// TransactionEndError says that raw SQL ends a transaction on whose end something relies, because
// guarded tables are asserted or written in it, or functions are called before or after it: a
// COMMIT or a ROLLBACK of the caller's own, or, on MySQL and MariaDB, one of the many statements
// that commit by themselves, such as CREATE TABLE. After that end, the assertions and path locks of
// the transaction mean nothing, and every later statement is committed by itself. Statements about
// savepoints are refused likewise, unless they have GORM's own form. It matches [ErrUnsupported].
//
// Statement is what ends the transaction: "COMMIT", "CREATE TABLE", or "SCRIPT" for a text with a
// comment that MySQL may execute. Ended is set if the statement ran before anything relied on
// the end: what would do so later is refused. Otherwise the statement itself is refused.
type TransactionEndError = fault.TransactionEndError

// FailureOf returns what an error means to the sender of a request. Besides the errors that
// [pathlock.FailureOf] knows, it knows those of GORM and the drivers:
//
//   - [gorm.ErrRecordNotFound] is [pathlock.FailureNotFound];
//   - a deadlock, a lock wait that took too long and their kind are [pathlock.FailureLocked];
//   - a database that cannot be reached, or that cannot serve, is [pathlock.FailureDatabase];
//   - a value that a column cannot hold, or that NOT NULL or a CHECK forbids, and
//     [gorm.ErrCheckConstraintViolated], is [pathlock.FailureInvalid];
//   - a foreign key that refuses a write, and [gorm.ErrForeignKeyViolated], is
//     [pathlock.FailureReference];
//   - a unique index that does, and [gorm.ErrDuplicatedKey], is [pathlock.FailureDuplicate].
//
// An error that a trigger raises itself is none of these: only its author knows what it means.
//
// Where GORM has joined two errors of one statement, only the second one counts.
func (p *Plugin) FailureOf(err error) pathlock.Failure {
	if failure := pathlock.FailureOf(err); failure != "" || err == nil {
		return failure
	}
	for is, failure := range failures {
		if errors.Is(err, is) {
			return failure
		}
	}
	var failure pathlock.Failure
	p.served.Range(func(d, _ any) bool {
		failure = d.(*dialect.Dialect).FailureOf(err)
		return failure == ""
	})
	return failure
}

// failures are what GORM's own errors mean.
var failures = map[error]pathlock.Failure{
	gorm.ErrRecordNotFound: pathlock.FailureNotFound, gorm.ErrForeignKeyViolated: pathlock.FailureReference,
	gorm.ErrDuplicatedKey: pathlock.FailureDuplicate, gorm.ErrCheckConstraintViolated: pathlock.FailureInvalid,
}
