package pathlock

import "context"

// StepKind says which piece of work a [Step] is.
type StepKind string

// The steps of an operation, next to the acquisitions of its locks. The middleware reports
// StepResolve, StepHandler and StepRetry, package gormplugin StepAssert, StepCommit, StepRollback
// and StepRetry, and the locker itself StepRelease.
const (
	// StepResolve finds the paths of the ids that a request names. Under the locks it finds them
	// again, to see whether they moved meanwhile.
	StepResolve StepKind = "resolve"
	// StepHandler runs the rest of the handler chain under the locks. Its error is the last one of
	// the chain, a panic, or why the locks were lost.
	StepHandler StepKind = "handler"
	// StepAssert proves under row locks that rows are where a write was planned on them. An error
	// that matches [ErrPathChanged] says that they are not. At the first attempt that only says
	// that a plain read was out of date: the write is planned again, by locking reads.
	StepAssert StepKind = "assert"
	// StepCommit ends a database transaction. [FailureOf] of its error is [FailureOutcomeUnknown]
	// where nobody knows whether it was committed.
	StepCommit StepKind = "commit"
	// StepRollback undoes a database transaction. Its error is why, nil where the transaction's
	// beginner asked for it.
	StepRollback StepKind = "rollback"
	// StepRetry is a further try of work that had to start over: of locking nodes that moved before
	// they were locked, or of a transaction that the database gave up.
	StepRetry StepKind = "retry"
	// StepRelease has the store release what no lock needs any more.
	StepRelease StepKind = "release"
)

// Step is a piece of work of an operation that takes locks. The context that comes with it says by
// [OriginOf] which operation that is.
type Step struct {
	Kind StepKind
	// Attempt counts the tries of the work, from 1.
	Attempt int
}

// Step tells the observers that a step begins. The step works under the context that Step returns.
// The caller calls done at its end, once, with the error that it ended with. It is for code that
// works with the locker's locks, as packages middleware and gormplugin do.
//
// It costs nothing where the locker has no observers.
func (l *Locker) Step(ctx context.Context, s Step) (work context.Context, done func(err error)) {
	if l.observers.none() {
		return ctx, unobserved
	}
	return l.observers.step(ctx, s)
}

// unobserved ends a step that nobody observes.
func unobserved(error) {}

// step begins a step for each observer, the first one outermost. They end in the reverse order.
func (os *observers) step(ctx context.Context, s Step) (context.Context, func(error)) {
	s.Attempt = max(s.Attempt, 1)
	ends := make([]func(error), 0, len(os.all))
	os.each(ctx, "Step", func(o Observer) {
		own, end := o.Step(ctx, s)
		if own != nil {
			ctx = own
		}
		if end != nil {
			ends = append(ends, end)
		}
	})
	return ctx, func(err error) {
		for i := len(ends) - 1; i >= 0; i-- {
			func() {
				defer os.contain(ctx, "Step")
				ends[i](err)
			}()
		}
	}
}
