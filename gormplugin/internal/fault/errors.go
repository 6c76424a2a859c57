// Package fault has the errors with which the plugin refuses or abandons a write.
//
// Every layer above reports failures by one of them. Package gormplugin re-exports them, so that
// errors.Is and errors.As work from outside. It documents them, and the fields of their types.
package fault

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/lockspec"
)

// The reasons why a write is refused. Package gormplugin says what each means to a caller.
var (
	ErrRetry                = pathlock.FailureLocked.New("gormplugin: transaction must be retried")
	ErrOutcomeUnknown       = pathlock.FailureOutcomeUnknown.New("gormplugin: outcome of the commit unknown")
	ErrNameTaken            = pathlock.FailureNameTaken.New("gormplugin: name taken")
	ErrMisplaced            = pathlock.FailureInvalid.New("gormplugin: no place for the row")
	ErrRootRow              = pathlock.FailureInvalid.New("gormplugin: a root row is the only row at the top")
	ErrWouldCycle           = lockspec.ErrWouldCycle
	ErrPathTooLong          = pathlock.FailureInvalid.New("gormplugin: path too long")
	ErrUnmanagedTransaction = errors.New("gormplugin: unmanaged transaction")
	ErrUnsupported          = errors.New("gormplugin: unsupported write")
	ErrStale                = pathlock.FailureStale.New("gormplugin: stale row")
	ErrDamagedRow           = errors.New("gormplugin: damaged row")
	ErrMissedRows           = errors.New("gormplugin: a write missed rows")
	ErrCallbacks            = errors.New("gormplugin: another plugin's callbacks are in the way")
	ErrNoRequestContext     = errors.New("gormplugin: the request's context is missing")
	ErrIsolation            = pathlock.FailureDatabase.New("gormplugin: unsafe isolation level")
	ErrUnsupportedDatabase  = pathlock.FailureDatabase.New("gormplugin: unsupported database")
)

// Unfit marks err as the fault of a value of the request, and not of the program.
func Unfit(err error) error { return unfit{err} }

// unfit is the error of [Unfit].
type unfit struct{ error }

// Failure says who is to blame.
func (unfit) Failure() pathlock.Failure { return pathlock.FailureInvalid }

// Unwrap returns the error.
func (e unfit) Unwrap() error { return e.error }

// Retryable wraps a database error as one that asks the caller to run the transaction again.
func Retryable(err error) error { return fmt.Errorf("%w: %w", ErrRetry, err) }

// PathChangedError is the error of that name in package gormplugin.
type PathChangedError struct {
	Table           string
	ID              any
	Planned, Actual string
}

// Error implements error.
func (e *PathChangedError) Error() string { return joined(e.Unwrap()...) }

// Unwrap returns [pathlock.ErrPathChanged], and what clients need not know.
func (e *PathChangedError) Unwrap() []error {
	return []error{
		pathlock.ErrPathChanged,
		shown.Inside(fmt.Sprintf("%s %s: planned on %q, now %q", e.Table, shown.ID(e.ID), shown.Cut(e.Planned), shown.Cut(e.Actual))),
	}
}

// joined is what several errors say, one after the other.
func joined(errs ...error) string {
	text := errs[0].Error()
	for _, err := range errs[1:] {
		text += ": " + err.Error()
	}
	return text
}

// NameTakenError is the error of that name in package gormplugin.
type NameTakenError struct {
	Table string
	Tree  pathlock.Tree
	Path  pathlock.Path
	Err   error
}

// Error implements error.
func (e *NameTakenError) Error() string { return joined(e.Unwrap()...) }

// Unwrap returns [ErrNameTaken], what clients need not know and, if there is one, Err.
func (e *NameTakenError) Unwrap() []error {
	at := e.Table
	if !e.Tree.IsZero() {
		at = fmt.Sprintf("%s: %s in %s", e.Table, shown.Text(e.Path.String()), e.Tree)
	}
	errs := []error{ErrNameTaken, shown.Inside(at), e.Err}
	if e.Err == nil {
		return errs[:2]
	}
	return errs
}

// TooDeepError is the error of that name in package gormplugin.
type TooDeepError struct {
	Table        string
	Path         string
	Depth, Limit int
}

// Error implements error.
func (e *TooDeepError) Error() string {
	return fmt.Sprintf("%v: %s: a row would lie %d names deep, at or below %.80q: at most %d are allowed", ErrPathTooLong, e.Table, e.Depth, e.Path, e.Limit)
}

// Unwrap returns [ErrPathTooLong].
func (e *TooDeepError) Unwrap() []error { return []error{ErrPathTooLong, shown.Inside(e.Table)} }

// RootRowError is the error of that name in package gormplugin.
type RootRowError struct {
	Table string
	Tree  pathlock.Tree
	ID    any
	Root  bool
}

// Error implements error.
func (e *RootRowError) Error() string { return joined(ErrRootRow, e.inside()) }

// inside is what clients need not know.
func (e *RootRowError) inside() error {
	switch {
	case e.ID == nil:
		return shown.Inside(fmt.Sprintf("%s: at the top of %s there may be a root row or other rows, not both", e.Table, e.Tree))
	case e.Root:
		return shown.Inside(fmt.Sprintf("%s: %s has the root row %s: put the row below that", e.Table, e.Tree, shown.ID(e.ID)))
	default:
		return shown.Inside(fmt.Sprintf("%s: %s has rows already, such as %s, and cannot get a root row", e.Table, e.Tree, shown.ID(e.ID)))
	}
}

// Unwrap returns [ErrRootRow] and [ErrUnsupported].
func (e *RootRowError) Unwrap() []error { return []error{ErrRootRow, ErrUnsupported, e.inside()} }

// MisplacedError is the error of that name in package gormplugin.
type MisplacedError struct {
	Table string
	Why   string
}

// Error implements error.
func (e *MisplacedError) Error() string { return joined(ErrMisplaced, e.inside()) + ": " + e.Why }

// inside is what clients need not know.
func (e *MisplacedError) inside() error { return shown.Inside(e.Table) }

// Unwrap returns [ErrMisplaced] and [ErrUnsupported].
func (e *MisplacedError) Unwrap() []error { return []error{ErrMisplaced, ErrUnsupported, e.inside()} }

// RowError is the error of that name in package gormplugin.
type RowError struct {
	Table string
	ID    any
	Err   error
}

// Error implements error.
func (e *RowError) Error() string {
	return fmt.Sprintf("gormplugin: %v: %v", e.inside(), e.Err)
}

// inside is what clients need not know.
func (e *RowError) inside() error { return shown.Inside(e.Table + " " + shown.ID(e.ID)) }

// Unwrap returns Err.
func (e *RowError) Unwrap() []error { return []error{e.Err, e.inside()} }

// NoRequestContextError says which request blocks a statement whose context belongs to no request.
// It matches [ErrNoRequestContext] and, as the statement need not be in that request's handler, the
// conflict.
type NoRequestContextError struct {
	// Conflict names the request as its Blocker.
	Conflict *pathlock.ConflictError
}

// Error implements error.
func (e *NoRequestContextError) Error() string {
	of := e.Conflict.Blocker.Origin
	handler := shown.Text(cmp.Or(of.Route, "a request"))
	if of.Operation != "" {
		handler += " (" + shown.Text(of.Operation) + ")"
	}
	return fmt.Sprintf("%v: the handler of %s, which runs in this process, has the lock: if the statement is in it, use db.WithContext(c.Request.Context()): %v",
		ErrNoRequestContext, handler, e.Conflict)
}

// Unwrap returns [ErrNoRequestContext] and the conflict.
func (e *NoRequestContextError) Unwrap() []error { return []error{ErrNoRequestContext, e.Conflict} }

// DamagedRowError is the error of that name in package gormplugin.
type DamagedRowError struct {
	Table string
	ID    any
	Err   error
}

// Error implements error.
func (e *DamagedRowError) Error() string {
	return fmt.Sprintf("%v: %s %s: %v: look for more of them with pathlock fsck", ErrDamagedRow, e.Table, shown.ID(e.ID), e.Err)
}

// Unwrap returns [ErrDamagedRow].
func (e *DamagedRowError) Unwrap() error { return ErrDamagedRow }

// MissedRowsError is the error of that name in package gormplugin.
type MissedRowsError struct {
	Table            string
	Planned, Written int64
}

// Error implements error.
func (e *MissedRowsError) Error() string {
	return fmt.Sprintf("%v: %s: %d were locked and checked, %d were written: look for a trigger, a policy or a column type that adds a condition of its own, or an Or beside the key of a model; the transaction was rolled back",
		ErrMissedRows, e.Table, e.Planned, e.Written)
}

// Unwrap returns [ErrMissedRows].
func (e *MissedRowsError) Unwrap() error { return ErrMissedRows }

// UnsupportedDatabaseError is the error of that name in package gormplugin.
type UnsupportedDatabaseError struct {
	Product, Version string
	Why              string
}

// Error implements error.
func (e *UnsupportedDatabaseError) Error() string {
	return fmt.Sprintf("%v: %s (%q): %s: use MySQL, MariaDB, PostgreSQL or SQLite", ErrUnsupportedDatabase, e.Product, e.Version, e.Why)
}

// Unwrap returns [ErrUnsupportedDatabase].
func (e *UnsupportedDatabaseError) Unwrap() error { return ErrUnsupportedDatabase }

// RawWriteError is the error of that name in package gormplugin.
type RawWriteError struct {
	Table     string
	Statement string
}

// Error implements error.
func (e *RawWriteError) Error() string {
	if e.Statement == "ALTER" {
		return fmt.Sprintf("%v: %s: this ALTER may remove from the table what its paths rest on, such as a collation: take the table, and those with an association to it, out of GORM's AutoMigrate, and call gormplugin.AutoMigrate, which only adds; or give the field the column's own type; gormplugin.AllowRawWrites(db) allows it",
			ErrUnsupported, e.Table)
	}
	return fmt.Sprintf("%v: %s: a raw %s that is no plain read may bypass the plugin: write by the model, or use gormplugin.AllowRawWrites(tx) after gormplugin.LockSubtrees or gormplugin.Assert",
		ErrUnsupported, cmp.Or(e.Table, "a guarded table"), e.Statement)
}

// Unwrap returns [ErrUnsupported].
func (e *RawWriteError) Unwrap() error { return ErrUnsupported }

// TransactionEndError is the error of that name in package gormplugin.
type TransactionEndError struct {
	Statement string
	Ended     bool
}

// Error implements error.
func (e *TransactionEndError) Error() string {
	if strings.HasSuffix(e.Statement, "SAVEPOINT") {
		return fmt.Sprintf("%v: %s in another form than GORM's, in a transaction that asserts or writes guarded tables, or that functions wait for: use a nested transaction, or GORM's SavePoint and RollbackTo",
			ErrUnsupported, e.Statement)
	}
	if e.Ended {
		return fmt.Sprintf("%v: %s has ended the transaction, so that nothing can be asserted in it, or written as a whole: run %[2]s before the transaction begins",
			ErrUnsupported, e.Statement)
	}
	return fmt.Sprintf("%v: %s would end a transaction that has asserted or written guarded tables, or that functions wait for: run it outside of the transaction, and end that by its Commit or Rollback",
		ErrUnsupported, e.Statement)
}

// Unwrap returns [ErrUnsupported].
func (e *TransactionEndError) Unwrap() error { return ErrUnsupported }
