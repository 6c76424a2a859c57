package txn

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Some errors end a transaction on the server, or may do so by a setting: whatever is run
// afterwards would be committed by itself, past the caller's ROLLBACK. Which errors these are
// differs between versions, settings and plugins of a server, and no answer of the server says so.
// So the plugin asks after such an error, in transactions that it relies on; in any other one, when
// it comes to rely on it.

// hasEnded reports whether the failure of a statement has ended the transaction on the server, or
// may have.
func (t *Transaction) hasEnded(err error) bool {
	if t.owner.Dialect.Classify(err) == dialect.FailureEnded {
		return true
	}
	probe := t.owner.Dialect.Probe
	if probe == nil || t.Failed() != nil || errors.Is(err, gorm.ErrRecordNotFound) || probe.Harmless(err) {
		return false
	}
	if !t.rawEnd.noteFailure(err) {
		return false
	}
	open, unanswered := probe.Open(context.WithoutCancel(t.ctx), t.Tx)
	return unanswered != nil || !open
}

// relyOn is called before a guarded table is asserted or written in the transaction, and before a
// function is added that is called after its end.
func (t *Transaction) relyOn() error {
	mayHaveEnded, err := t.rawEnd.relyOn()
	if err == nil && mayHaveEnded != nil && t.abandonAfter(mayHaveEnded) {
		err = fault.Retry(mayHaveEnded)
	}
	if err == nil {
		t.settleRows()
		err = t.Failed()
	}
	return err
}

// abandonAfter rolls the transaction back if an error has ended it on the server, or may have, and
// reports whether.
func (t *Transaction) abandonAfter(err error) bool {
	ended := t.hasEnded(err)
	if ended {
		t.Abandon(fault.Retry(err))
	}
	return ended
}
