package ticketstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/lease"
)

// store is a [pathlock.Store] on a [Backend].
type store struct {
	backend Backend
	name    string
	timeout time.Duration
	// withdrawals are the requests that are being taken back.
	withdrawals lease.Releases[requestKey]
	// closing ends when the store takes no more calls.
	closing context.Context
	close   context.CancelFunc
	// open ends when no update may go on.
	open context.Context
	shut context.CancelFunc

	mu       sync.Mutex
	batchers map[pathlock.Tree]*batcher
	closed   bool           // not even calls that are under way may use the backend
	attempts sync.WaitGroup // of Acquire
	running  sync.WaitGroup // of batchers, of questions, of watches, and of a sweep
	// nextSweep is when an update is followed by a sweep again.
	nextSweep time.Time
}

var _ pathlock.Store = (*store)(nil)

// New returns a store that keeps its tickets in a backend. The name is that of the backend's
// package, for errors.
//
// The backend has the time-out, which is positive, to answer. Every call ends at the latest its
// wait plus the time-out after it began, whatever the backend does: it needs no bounds of its own.
// Backend calls that have not returned by then go on behind the call, and Close waits for them.
// Close takes two seconds at most to take requests out of the queue, and closes a backend that is
// an [io.Closer] when nothing uses it any more.
//
// A backend in which trees leave something behind has a method Sweep(context.Context) error, which
// removes that. Each process calls it about every ten minutes, after an update. What fails is done
// by the next sweep, or by another process's.
//
// A backend whose processes are not equally near to the server has a method
// Reserve(context.Context, pathlock.Tree) error, which makes [State.Reserved] true until an update
// that has seen it is written, by any process. Without one, distant processes may lose to the
// others for as long as these keep writing.
func New(name string, backend Backend, timeout time.Duration) pathlock.Store {
	open, shut := context.WithCancel(context.Background())
	closing, end := context.WithCancel(open)
	return &store{
		backend: backend, name: name, timeout: timeout, closing: closing, close: end, open: open, shut: shut,
		batchers: make(map[pathlock.Tree]*batcher), nextSweep: nextSweep(),
	}
}

// errClosed is the error of every call to a store that has been closed.
var errClosed = fmt.Errorf("%w: %w", pathlock.ErrUnavailable, pathlock.ErrClosed)

// Close ends all calls that wait, with errors that match [pathlock.ErrClosed], and takes their
// requests out of the queue, which takes two seconds at most. When nothing of the store uses the
// backend any more, Close closes it if it is an [io.Closer]. If ctx ends first, the backend's calls
// end, the error matches ctx's, and the rest goes on behind the call. What is held is left to its
// leases. Further calls fail.
func (s *store) Close(ctx context.Context) error {
	s.mu.Lock()
	s.close()
	s.withdrawals.Hurry()
	s.mu.Unlock()
	defer context.AfterFunc(ctx, s.shut)()
	over := make(chan error, 1)
	go func() { over <- s.end() }()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
		return fmt.Errorf("closing the store: %w", ctx.Err())
	}
}

// end waits for all that uses the backend, and closes it.
func (s *store) end() error {
	last := time.AfterFunc(2*cleanupTime, s.shut) // a backend that does not answer keeps nobody
	defer last.Stop()
	s.attempts.Wait()
	_ = s.withdrawals.Await(context.Background())
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.running.Wait()
	s.shut()
	if closer, ok := s.backend.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// begin counts something among attempts or running, unless the store is closed.
func (s *store) begin(among *sync.WaitGroup) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Err() != nil {
		return s.failed(errClosed)
	}
	among.Add(1)
	return nil
}

// cleanupTime is how long a call may take, when its own time is over, to leave everything in order.
const cleanupTime = time.Second

// answered returns the error of a call of the backend as callers see it: the error of an ended
// context, or one that says that the store is unavailable or the request invalid.
func answered(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, pathlock.ErrInvalidRequest), errors.Is(err, pathlock.ErrUnavailable):
		return err
	default:
		return fmt.Errorf("%w: %w", pathlock.ErrUnavailable, err)
	}
}

// latest is when a call that begins now and does not wait ends at the latest.
func (s *store) latest() time.Time { return time.Now().Add(s.timeout) }

// inTime asks the backend something within the store's time-out, and until a moment at the latest.
// If any deadline has passed, the store is unavailable: it has not answered in time.
func (s *store) inTime(ctx context.Context, until time.Time, what string, ask func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, min(time.Until(until), s.timeout))
	defer cancel()
	switch err := ask(within); {
	case err == nil:
		return nil
	case ctx.Err() == nil && (within.Err() != nil || errors.Is(err, context.DeadlineExceeded)):
		// The time is the store's, or that of connecting: no context of the caller has ended.
		return s.failed(fmt.Errorf("%w: %s: %s: %v", pathlock.ErrUnavailable, what, late(err), err)) //nolint:errorlint // see above
	case errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, pathlock.ErrUnavailable):
		return s.failed(fmt.Errorf("%w: %s: %s: %w", pathlock.ErrUnavailable, what, late(err), err))
	default:
		return s.failed(fmt.Errorf("%s: %w", what, err))
	}
}

// question asks the backend something, on a goroutine that is left behind when the time is over.
// What ask has found may be looked at only if question returns nil.
func (s *store) question(ctx context.Context, what string, ask func(context.Context) error) error {
	if err := s.begin(&s.running); err != nil {
		return err
	}
	return s.inTime(ctx, s.latest(), what, func(ctx context.Context) error {
		answer := make(chan error, 1)
		go func() {
			defer s.running.Done()
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(s.open, cancel)()
			answer <- answered(ctx, ask(ctx))
		}()
		select {
		case err := <-answer:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// call applies an operation until a moment, unless the store is closed.
func (s *store) call(ctx context.Context, until time.Time, tree pathlock.Tree, op *operation) error {
	if s.closing.Err() != nil {
		return s.failed(errClosed)
	}
	return s.do(ctx, until, tree, op)
}

// sweepSometimes follows an update.
func (s *store) sweepSometimes() {
	b, sweeps := s.backend.(interface {
		Sweep(ctx context.Context) error
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if sweeps && !s.closed && time.Now().After(s.nextSweep) {
		s.nextSweep = nextSweep()
		s.running.Go(func() { _ = b.Sweep(s.closing) })
	}
}

func nextSweep() time.Time {
	const mean = 10 * time.Minute
	return time.Now().Add(mean/2 + rand.N(mean))
}

// failed says which store an error comes from.
func (s *store) failed(err error) error { return fmt.Errorf("pathlock/%s: %w", s.name, err) }

// quota is how many requests one update may grant, 0 for any number.
func (s *store) quota() int { return s.backend.Limit() / 2 }

// portion is how many operations go into one update: each of them writes a ticket or two, beside
// those that it lets in.
func (s *store) portion() int {
	if limit := s.backend.Limit(); limit > 0 {
		return min(maxTogether, max(1, limit/8))
	}
	return maxTogether
}

// Snapshot implements [pathlock.Store]. It reads beside the updates of the tree, since a server may
// still answer what it can only read.
func (s *store) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	until := s.latest()
	var state State
	err := s.question(ctx, tree.String(), func(ctx context.Context) error {
		return s.update(ctx, tree, true, func(is State, _ time.Time) Changes {
			state = is
			return Changes{}
		})
	})
	if err != nil {
		return pathlock.Snapshot{}, err
	}
	tx := openTransaction(tree, state, 0)
	if c := tx.changes(); c.Empty() {
		return tx.table.Snapshot(), nil
	}
	// A lease has ended since anybody looked. An update decides who is let in by that.
	var got pathlock.Snapshot
	err = s.call(ctx, until, tree, &operation{
		apply:  func(*transaction) {},
		finish: func(tx *transaction) { got = tx.table.Snapshot() },
	})
	if err != nil {
		return pathlock.Snapshot{}, err
	}
	return got, nil
}

// Trees implements [pathlock.Store].
func (s *store) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	var trees []pathlock.Tree
	err := s.question(ctx, "listing the trees", func(ctx context.Context) (err error) {
		trees, err = s.backend.Trees(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return trees, nil
}

// Local implements [pathlock.Store].
func (s *store) Local() bool { return false }

// Ping implements [pathlock.Store].
func (s *store) Ping(ctx context.Context) error { return s.question(ctx, "ping", s.backend.Ping) }
