package txn

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/internal/gincontext"
)

// Outcome is how a transaction, or the part of it after a savepoint, has ended.
type Outcome uint8

const (
	// Unknown says that the answer to the COMMIT was lost, or that it is not known to which
	// savepoint the transaction went back.
	Unknown Outcome = iota
	// Committed is certain.
	Committed
	// RolledBack is certain.
	RolledBack
)

// afterwards has the work that remains after the end of a transaction.
type afterwards struct {
	calls []endCall
	// savepoints are those that are set, the oldest first.
	savepoints []savepoint
	// outcome is known after the end.
	outcome Outcome
}

// endCall is a function that is called after the end.
type endCall struct {
	ctx context.Context
	fn  func(context.Context, Outcome)
	// undone is set once the transaction went back to a savepoint from before the call was added,
	// and doubtful once it may have.
	undone, doubtful bool
}

// AtEnd calls fn once the transaction has ended and its locks are released, with the values of ctx.
// It returns an error, and does not call fn, if the transaction has ended already.
func (t *Transaction) AtEnd(ctx context.Context, fn func(context.Context, Outcome)) error {
	if err := t.relyOn(); err != nil {
		return err
	}
	call := endCall{ctx: context.WithoutCancel(gincontext.Join(ctx)), fn: fn}
	t.mu.Lock()
	closed := t.closed
	if !closed {
		t.after.calls = append(t.after.calls, call)
	}
	t.mu.Unlock()
	if !closed {
		return nil
	}
	t.ending.Lock()
	defer t.ending.Unlock()
	return t.whyEnded()
}

// callBack calls the functions that wait for the end, if the transaction has ended. The caller
// holds no lock of the transaction: the functions may do anything.
func (t *Transaction) callBack() {
	t.mu.Lock()
	if !t.closed {
		t.mu.Unlock()
		return
	}
	calls := t.after.calls
	t.after.calls = nil
	t.mu.Unlock()
	callAll(calls, t.after.outcome)
}

// callAll calls one function after the other. One that panics does not keep the others from being
// called.
func callAll(calls []endCall, outcome Outcome) {
	if len(calls) == 0 {
		return
	}
	defer callAll(calls[1:], outcome)
	call := calls[0]
	switch {
	case call.undone:
		outcome = RolledBack
	case call.doubtful && outcome == Committed:
		outcome = Unknown
	}
	call.fn(call.ctx, outcome)
}

// savepoint is where a transaction can go back to.
type savepoint struct {
	name string
	// calls is how many calls there were.
	calls int
}

// take applies a savepoint's statement to what is noted. Databases agree that the newest savepoint
// of a name counts, and that to go back to one, or to release it, ends all that were set after it.
// An unknown one was set where the plugin does not look, and may be as old as the transaction.
func (a *afterwards) take(step rawsql.SavepointStep) {
	if step.Verb == rawsql.SetSavepoint {
		a.savepoints = append(a.savepoints, savepoint{step.Name, len(a.calls)})
		return
	}
	newest, calls := -1, 0
	for i, s := range slices.Backward(a.savepoints) {
		if s.name == step.Name {
			newest, calls = i, s.calls
			break
		}
	}
	if step.Verb == rawsql.ReleaseSavepoint {
		a.savepoints = a.savepoints[:max(newest, 0)]
		return
	}
	a.savepoints = a.savepoints[:newest+1]
	for i := calls; i < len(a.calls); i++ {
		if newest < 0 {
			a.calls[i].doubtful = true
		} else {
			a.calls[i].undone = true
		}
	}
}

// contain, deferred, logs a panic of a function that was called on a goroutine of the plugin's.
func (g *Guard) contain(ctx context.Context) {
	r := recover()
	if r == nil {
		return
	}
	defer func() { _ = recover() }()
	g.DB.Logger.Error(ctx, "%s", fmt.Sprintf("gormplugin: a function that was called after a transaction panicked: %v\n%s", r, debug.Stack()))
}
