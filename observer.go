package pathlock

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Observer sees what a [Locker] does, for metrics, traces and tests. Methods are called on the
// goroutine that does the work, and must not block. Embed [NopObserver] and implement those of
// interest.
type Observer interface {
	// Acquiring is called before a request goes to the store. The rest of the acquisition uses the
	// context that it returns, so that a trace can continue.
	Acquiring(ctx context.Context, e Event) context.Context
	// Waiting is called when the request has taken its place in the queue, or begins to wait for a
	// release that its own process is making in the background.
	Waiting(ctx context.Context, e Event)
	// Granted is called when the caller holds everything that it asked for. For a re-entrant
	// acquisition, which asks no store, it is the only call, and e.Reentrant is set.
	Granted(ctx context.Context, e Event)
	// Refused is called when an acquisition that was sent to the store has failed, even by a panic.
	// Event.Err says why.
	Refused(ctx context.Context, e Event)
	// Lost is called once for each lock whose lease was lost before its release, as soon as the
	// locker notices. If only the release notices, Lost comes before Released.
	Lost(ctx context.Context, e Event)
	// Released is called after a release, successful or not.
	Released(ctx context.Context, e Event)
	// Step is called when a step of the work around locks begins: see [Step]. The step works under
	// the context that Step returns, and calls done at its end. Both may be nil: then the context
	// stays the same, and nobody learns of the end.
	Step(ctx context.Context, s Step) (work context.Context, done func(err error))
	// Answered is called when a request has been answered by a problem: see [Locker.Answered].
	Answered(ctx context.Context, f Failure)
}

// Event is what an [Observer] sees.
type Event struct {
	Tree  Tree
	Owner Owner
	// Gate and Claims are the request, as the caller wrote it.
	Gate   bool
	Claims []Claim
	Note   string
	// Origin says where the request comes from. Before the request is sent, it lacks what
	// [Observer.Acquiring] adds by [WithOrigin].
	Origin Origin
	// Reentrant says that the scope held everything already.
	Reentrant bool
	// Fence is the grant's, 0 before there is one.
	Fence uint64
	// Degraded says that the grant was made without the lock store: see [Degrade].
	Degraded bool
	// Elapsed is the time since the acquisition began for Waiting, Granted and Refused, and the
	// time for which the lock was held for Lost and Released.
	Elapsed time.Duration
	// Err says why the work failed, nil if it did not.
	Err error
}

// NopObserver implements [Observer] and does nothing.
type NopObserver struct{}

// Acquiring implements [Observer].
func (NopObserver) Acquiring(ctx context.Context, _ Event) context.Context { return ctx }

// Waiting implements [Observer].
func (NopObserver) Waiting(context.Context, Event) {}

// Granted implements [Observer].
func (NopObserver) Granted(context.Context, Event) {}

// Refused implements [Observer].
func (NopObserver) Refused(context.Context, Event) {}

// Lost implements [Observer].
func (NopObserver) Lost(context.Context, Event) {}

// Released implements [Observer].
func (NopObserver) Released(context.Context, Event) {}

// Step implements [Observer].
func (NopObserver) Step(context.Context, Step) (context.Context, func(error)) { return nil, nil }

// Answered implements [Observer].
func (NopObserver) Answered(context.Context, Failure) {}

// Answered tells the observers that a request has been answered by a problem whose type ends in f,
// which need not be one of this package's failures. Package middleware calls it. A program that
// answers in another way may call it, too.
func (l *Locker) Answered(ctx context.Context, f Failure) {
	l.eachObserver(ctx, "Answered", func(o Observer) { o.Answered(ctx, f) })
}

// eachObserver calls one method of each observer, in the order in which they were given. It logs a
// panic, which harms neither the lock nor the goroutine.
func (l *Locker) eachObserver(ctx context.Context, what string, method func(Observer)) {
	for _, o := range l.observers {
		func() {
			defer l.contain(ctx, what)
			method(o)
		}()
	}
}

// contain, deferred, logs an observer's panic.
func (l *Locker) contain(ctx context.Context, what string) {
	if r := recover(); r != nil {
		l.log.ErrorContext(ctx, "pathlock: an observer panicked", "method", what, "panic", r, "stack", string(debug.Stack()))
	}
}

// tell calls one method of each observer with an event.
func (l *Locker) tell(ctx context.Context, what string, method func(Observer, context.Context, Event), e Event) {
	l.eachObserver(ctx, what, func(o Observer) { method(o, ctx, e) })
}

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
	// StepAssert proves under row locks that rows are where the plan of a write has them. An error
	// that matches [ErrPathChanged] says that they are not. At the first attempt, this only means
	// that a plain read was out of date: the plugin plans the write again, on locking reads.
	StepAssert StepKind = "assert"
	// StepCommit ends a database transaction. [FailureOf] of its error is [FailureOutcomeUnknown]
	// if nobody knows whether it was committed.
	StepCommit StepKind = "commit"
	// StepRollback undoes a database transaction. Its error is why, nil if the code that began the
	// transaction asked for it.
	StepRollback StepKind = "rollback"
	// StepRetry is a further try of work that had to start over: of locking nodes that moved before
	// they were locked, or of a transaction that the database aborted.
	StepRetry StepKind = "retry"
	// StepRelease asks the store to release grants that no lock needs any more.
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
// At its end, the caller calls done once, with the step's error. It is for code that works with the
// locker's locks, as packages middleware and gormplugin do.
//
// [Locker.Serves] also relies on [StepHandler]. Other steps cost nothing if the locker has no
// observers.
func (l *Locker) Step(ctx context.Context, s Step) (work context.Context, done func(err error)) {
	work, done = ctx, func(error) {}
	if len(l.observers) > 0 {
		work, done = l.observedStep(ctx, s)
	}
	if scope := l.carried(ctx); s.Kind == StepHandler && scope != nil {
		observed := done
		l.serving.add(scope, 1)
		done = func(err error) {
			l.serving.add(scope, -1)
			observed(err)
		}
	}
	return work, done
}

// observedStep begins a step for each observer, the first one outermost. They end in the reverse
// order.
func (l *Locker) observedStep(ctx context.Context, s Step) (context.Context, func(error)) {
	s.Attempt = max(s.Attempt, 1)
	ends := make([]func(error), 0, len(l.observers))
	l.eachObserver(ctx, "Step", func(o Observer) {
		own, end := o.Step(ctx, s)
		if own != nil {
			ctx = own
		}
		if end != nil {
			ends = append(ends, end)
		}
	})
	return ctx, func(err error) {
		for _, end := range slices.Backward(ends) {
			func() {
				defer l.contain(ctx, "Step")
				end(err)
			}()
		}
	}
}

// serving counts the handlers that run under the locks of each owner.
type serving struct {
	mu       sync.Mutex
	handlers map[Owner]int
}

// add changes the count of a scope's owners.
func (s *serving) add(scope *Scope, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handlers == nil {
		s.handlers = make(map[Owner]int)
	}
	for ; scope != nil; scope = scope.elsewhere {
		if s.handlers[scope.owner] += n; s.handlers[scope.owner] == 0 {
			delete(s.handlers, scope.owner)
		}
	}
}

// Serves reports whether a handler runs in this process under the locks of an owner, such as one of
// [Locker.Snapshot]. It knows only the handlers that package middleware runs with this locker.
func (l *Locker) Serves(owner Owner) bool {
	l.serving.mu.Lock()
	defer l.serving.mu.Unlock()
	return l.serving.handlers[owner] > 0
}
