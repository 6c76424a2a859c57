package fault

import (
	"fmt"
)

// RawWriteError says which raw SQL was refused: it would have gone past the plugin. Nothing of it
// has run. It matches [ErrUnsupported].
type RawWriteError struct {
	// Table is the guarded table, as the SQL names it.
	Table string
	// Statement is the kind of write: "UPDATE", "INSERT", "DELETE".
	Statement string
}

// Error implements error.
func (e *RawWriteError) Error() string {
	return fmt.Sprintf("%v: %s: a raw %s would go past the plugin: write by the model, or use gormplugin.AllowRawWrites(tx) after gormplugin.LockSubtrees or gormplugin.Assert",
		ErrUnsupported, e.Table, e.Statement)
}

// Unwrap returns [ErrUnsupported].
func (e *RawWriteError) Unwrap() error { return ErrUnsupported }

// TransactionEndError says that a transaction and raw SQL that ends it do not go together: a COMMIT
// or a ROLLBACK of the caller's own, or, on MySQL and MariaDB, one of the many statements that
// commit by themselves, such as CREATE TABLE. What was asserted in the transaction, and the path
// locks that it holds, mean nothing after its end, and every later statement would be committed by
// itself. It matches [ErrUnsupported].
type TransactionEndError struct {
	// Statement is what ends the transaction: "COMMIT", "CREATE TABLE".
	Statement string
	// Ended is set where the statement was run before anything was asserted, and it is a later
	// write to a guarded table that is refused. Otherwise the statement is refused, since guarded
	// tables were asserted or written before.
	Ended bool
}

// Error implements error.
func (e *TransactionEndError) Error() string {
	if e.Ended {
		return fmt.Sprintf("%v: %s has ended the transaction, so that nothing can be asserted or written as a whole in it: run %[2]s before the transaction begins",
			ErrUnsupported, e.Statement)
	}
	return fmt.Sprintf("%v: %s would end the transaction, in which guarded tables were asserted or written: run it outside of the transaction, and end that by its Commit or Rollback",
		ErrUnsupported, e.Statement)
}

// Unwrap returns [ErrUnsupported].
func (e *TransactionEndError) Unwrap() error { return ErrUnsupported }
