package txn

import (
	"errors"
	"fmt"
)

// abortedError is why a statement, or the commit, of a PostgreSQL transaction was refused: an
// earlier statement failed, and nothing else is run until the transaction is rolled back, or back
// to a savepoint before that statement.
type abortedError struct {
	// first is how the earlier statement failed, err what the database says now.
	first, err error
}

// Error implements error.
func (e *abortedError) Error() string {
	return fmt.Sprintf("gormplugin: the transaction has to be rolled back, or back to a savepoint, since a statement of it failed: %v: %v", e.first, e.err)
}

// Unwrap returns both errors: whoever gets the second one is to know whether the first asked for a
// retry.
func (e *abortedError) Unwrap() []error { return []error{e.first, e.err} }

// abortedBy notes that a statement has failed, so that no further one is run, or (nil) that one has
// succeeded. The first failure is the one that counts, in the words that say most about it.
func (t *Transaction) abortedBy(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil || t.aborted == nil || errors.Is(err, t.aborted) {
		t.aborted = err
	}
}

// whyAborted returns how the statement failed that keeps all others from being run, nil if there is
// none.
func (t *Transaction) whyAborted() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.aborted
}
