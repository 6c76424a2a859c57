package ticketstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
)

// batcher has the operations of this process on one tree. Those that come while an update is under
// way go into the next one together, so that a crowd costs a few updates, and the process never
// competes with itself.
type batcher struct {
	store *store
	tree  pathlock.Tree

	// The store's mutex guards these. underWay are the operations of the present update whose calls
	// wait for it, and stop ends it. queued are those of the next.
	queued, underWay []*operation
	stop             context.CancelFunc
	// tries is how often it has been tried.
	tries atomic.Int32
}

// operation is one call's change to a tree.
type operation struct {
	ctx context.Context
	// apply does it, to the transaction of each try. The last one counts.
	apply func(*transaction)
	// finish, if not nil, follows when the other operations of the update have been applied.
	finish func(*transaction)
	// applied says that a try has applied it, or may still: the backend may write what it does.
	applied atomic.Bool
	// written, if not nil, is called when the update has been written, with what was.
	written func(Changes)
	// began is a moment before the last try read the tree. It is set when done is closed.
	began time.Time
	err   error
	done  chan struct{}
}

// maxTogether is how many operations go into one update, unless the backend's limit is lower.
const maxTogether = 64

// do applies an operation to a tree, and returns when the result is written, but no later than the
// given moment. After an error, the operation may or may not be applied later.
func (s *store) do(ctx context.Context, until time.Time, tree pathlock.Tree, op *operation) error {
	return s.inTime(ctx, until, tree.String(), func(ctx context.Context) error {
		op.ctx, op.done = ctx, make(chan struct{})
		l, err := s.add(tree, op)
		if err != nil {
			return err
		}
		select {
		case <-op.done:
			return op.err
		case <-ctx.Done():
			end := outrun{ctx.Err(), l.tries.Load()} // before the next update
			if !l.remove(op) {
				op.applied.Store(true)
			}
			return end
		}
	})
}

// outrun is why an update ended without success after so many tries.
type outrun struct {
	error
	tries int32
}

func (o outrun) Unwrap() error { return o.error }

// late says why there is nothing to show for the time.
func late(err error) string {
	if o, ok := errors.AsType[outrun](err); ok && o.tries > 2 {
		return fmt.Sprintf("no time is left after %d tries, because others changed the tree first", o.tries)
	}
	return "no answer in time"
}

// add queues an operation at a tree's batcher, which runs until it has none left.
func (s *store) add(tree pathlock.Tree, op *operation) (*batcher, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	l := s.batchers[tree]
	if l == nil {
		l = &batcher{store: s, tree: tree}
		s.batchers[tree] = l
		s.running.Go(l.run)
	}
	l.queued = append(l.queued, op)
	return l, nil
}

// remove takes back an operation that nobody waits for any more. It reports whether none of it can
// have been done. It ends an update that nobody waits for any more.
func (l *batcher) remove(op *operation) bool {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if i := slices.Index(l.queued, op); i >= 0 {
		l.queued = slices.Delete(l.queued, i, i+1)
		return true
	}
	if i := slices.Index(l.underWay, op); i >= 0 {
		if l.underWay = slices.Delete(l.underWay, i, i+1); len(l.underWay) == 0 {
			l.stop()
		}
	}
	return false
}

// run applies operations until there are none.
func (l *batcher) run() {
	for {
		ops, ctx := l.take()
		if len(ops) == 0 {
			return
		}
		over := context.AfterFunc(l.store.open, l.stop)
		l.update(ctx, ops)
		over()
		l.stop()
	}
}

// take returns the operations of the next update, and its context, which has the values of the
// first one's. If there are none, the batcher has ended.
func (l *batcher) take() ([]*operation, context.Context) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	n := min(len(l.queued), l.store.portion())
	if n == 0 {
		delete(l.store.batchers, l.tree)
		return nil, nil
	}
	ops := slices.Clone(l.queued[:n])
	l.queued, l.underWay = slices.Delete(l.queued, 0, n), slices.Clone(ops)
	ctx, stop := context.WithTimeout(context.WithoutCancel(ops[0].ctx), l.store.timeout)
	l.stop = stop
	l.tries.Store(0)
	return ops, ctx
}

// update applies operations in one step. If a step would let in more requests than the backend
// accepts, it lets in one. When the requests that it has let in look at their tickets, they let in
// those that it left in the queue.
func (l *batcher) update(ctx context.Context, ops []*operation) {
	tried, err := l.step(ctx, ops, l.store.quota())
	if errors.Is(err, pathlock.ErrInvalidRequest) && len(ops) == 1 && len(tried.Woken) > 1 {
		_, err = l.step(ctx, ops, 1)
	}
	if errors.Is(err, pathlock.ErrInvalidRequest) && len(ops) > 1 {
		// One of them is more than the backend takes. The others must not suffer.
		for i := range ops {
			l.update(ctx, ops[i:i+1])
		}
		return
	}
	for _, op := range ops {
		op.err = err
		close(op.done)
	}
}

// step is one update, which lets in at most quota requests, 0 for any number. It returns what it
// has written, or would have.
func (l *batcher) step(ctx context.Context, ops []*operation, quota int) (written Changes, err error) {
	var late error
	err = l.store.update(ctx, l.tree, false, func(state State, began time.Time) Changes {
		if late = ctx.Err(); late != nil {
			return Changes{} // nobody waits for the answer any more
		}
		written = l.apply(ops, openTransaction(l.tree, state, quota), began)
		return written
	})
	switch err = answered(ctx, cmp.Or(err, late)); {
	case err != nil && l.store.open.Err() != nil:
		return written, errClosed // no caller's context need have ended
	case err != nil:
		return written, outrun{err, l.tries.Load()}
	}
	for _, op := range ops {
		if op.written != nil {
			op.written(written)
		}
	}
	if !written.Empty() {
		l.store.sweepSometimes()
	}
	return written, nil
}

// update updates a tree, again and again until that is done. change also gets a moment before the
// tree was read.
//
// A process far from the server loses to near ones for as long as they keep writing. So one that
// has lost for a while reserves the next update, and each of the others rests until that is over.
func (s *store) update(ctx context.Context, tree pathlock.Tree, latest bool, change func(state State, began time.Time) Changes) error {
	reserver, _ := s.backend.(interface {
		Reserve(context.Context, pathlock.Tree) error
	})
	first, lost, rested := time.Now(), 0, 0
	for {
		began, rests := time.Now(), false
		loses := lost > 1 && began.Sub(first) > patience
		if loses && reserver != nil {
			_ = reserver.Reserve(ctx, tree) // the update fails, too
		}
		done, err := s.backend.Update(ctx, tree, latest || lost > 0, func(state State) Changes {
			c := change(state, began)
			if rests = state.Reserved && !loses && rested < glances && !c.Empty(); rests {
				return Changes{}
			}
			return c
		})
		if done && !rests || err != nil {
			return err
		}
		pause := glance
		if rests {
			rested++
		} else {
			// Of several processes that try again, each waits for as long as a few tries take, but
			// not while the others rest for it.
			tries := min(lost, 8)
			if loses {
				tries = 1
			}
			// A test can repeat crypto/rand; it never fails.
			random, _ := rand.Int(rand.Reader, big.NewInt(int64(time.Since(began))*int64(tries)+1))
			pause = time.Duration(random.Int64())
			lost++
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// patience is how long an update loses to others before it reserves the next one. glance is how
// long others rest before they look whether that is over, at most so many times.
const patience, glance, glances = 250 * time.Millisecond, 10 * time.Millisecond, 50

// apply applies operations to what was read after a moment, and returns what that changes.
func (l *batcher) apply(ops []*operation, tx *transaction, began time.Time) Changes {
	l.tries.Add(1)
	for _, op := range ops {
		op.began = began
		op.applied.Store(true)
		op.apply(tx)
	}
	for _, op := range ops {
		if op.finish != nil {
			op.finish(tx)
		}
	}
	return tx.changes()
}
