package ticketstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/locktable"
)

// Acquire implements [pathlock.Store].
//
// A request that does not wait gets a conflict and never a deadlock. A second call with the owner
// and grant id of a request that is being taken back waits until that is done.
func (s *store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if ctx.Err() != nil {
		return pathlock.Grant{}, s.failed(fmt.Errorf("acquiring in %s: %w", req.Tree, ctx.Err()))
	}
	if err := s.begin(&s.attempts); err != nil {
		return pathlock.Grant{}, err
	}
	defer s.attempts.Done()
	a := &attempt{store: s, req: req, key: requestKey{req.Tree, req.Owner, req.Grant}, began: time.Now()}
	a.req.Lease, a.req.Wait, a.req.Waiting = min(req.Lease, pathlock.Forever), min(req.Wait, pathlock.Forever), nil
	a.until = a.began.Add(max(a.req.Wait, 0)).Add(s.timeout - req.Spent)
	earlier := func(ctx context.Context) error {
		s.withdrawals.Await(ctx, a.key)
		return ctx.Err()
	}
	if err := s.inTime(ctx, a.until, "taking an earlier try back", earlier); err != nil {
		return pathlock.Grant{}, err
	}
	defer func() {
		// A panic of Waiting leaves the request unsettled, too.
		if a.unsettled {
			a.withdraw()
		}
	}()
	return a.run(ctx, req.Waiting)
}

// attempt is one call of Acquire.
type attempt struct {
	store *store
	req   pathlock.Acquisition
	key   requestKey
	began time.Time
	// until is when the call ends at the latest.
	until time.Time
	// asked is when the update that gave the request its present lease was sent.
	asked time.Time
	// unsettled says that the store may have a ticket of the request, and open that an update which
	// writes one may still be under way.
	unsettled, open bool
	// refused is why the wait was refused, as a try found whose reply may have been lost.
	refused error
}

// view is what an attempt sees of its request in an update.
type view struct {
	fence  uint64 // of the grant, 0 if there is none
	queued bool
	err    error
	// ticket is the request's while it waits, and before the one that it watches: if nothing is in
	// the way, its own, which tells when it is let in.
	ticket, before Ticket
	// look is how long the request can wait before some lease that concerns it ends.
	look time.Duration
	// revived says that the ticket's lease began anew.
	revived bool
}

// run returns when the request is granted or has failed.
func (a *attempt) run(ctx context.Context, waiting func()) (pathlock.Grant, error) {
	for announced := false; ; announced = true {
		v, err := a.ask(ctx, announced)
		switch {
		case err != nil:
			return pathlock.Grant{}, a.failed(ctx, announced, err)
		case v.err != nil:
			a.unsettled = false
			return pathlock.Grant{}, v.err
		case !v.queued:
			a.unsettled = false
			return pathlock.Grant{Fence: v.fence, Asked: a.asked}, nil
		}
		if !announced && waiting != nil {
			waiting()
		}
		if grant, over, err := a.wait(ctx, v); over {
			return grant, err
		}
	}
}

// ask puts the request into the tree, or looks up its state there. It is a sign of life.
func (a *attempt) ask(ctx context.Context, again bool) (view, error) {
	var v view
	var r *locktable.Request
	op := &operation{}
	op.apply = func(tx *transaction) {
		v, r = view{}, nil
		if v.err = a.refusal(tx, again); v.err != nil {
			return
		}
		known := tx.table.Find(a.req.Owner, a.req.Grant)
		if again && known != nil && (known.Fence() != 0 || !a.needsRenewal()) {
			r = known
		} else {
			req := a.req
			req.Wait = a.left(ctx)
			if again && req.Wait <= 0 {
				req.Wait = 1 // the wait ends by the clock of this process, in wait
			}
			if r, v.err = tx.table.Acquire(req); v.err != nil {
				return
			}
			v.revived = known == nil || known.Fence() == 0 || !again
			if r.Queued() {
				r.WaitUntil(tx.state.Now.Add(req.Wait))
			}
		}
	}
	op.finish = func(tx *transaction) {
		if v.err == nil {
			v.settle(tx, r)
		}
	}
	op.written = func(c Changes) { v.ticket, v.before = c.named(v.ticket), c.named(v.before) }
	err := a.store.do(ctx, a.until, a.req.Tree, op)
	if err != nil {
		a.open = a.open || op.applied.Load() && !errors.Is(err, pathlock.ErrInvalidRequest)
		a.unsettled = a.unsettled || a.open
		return view{}, err
	}
	a.unsettled = true
	if v.revived {
		a.asked = op.began
	}
	return v, nil
}

// refusal returns why the request's wait was refused, before this update or in it. A refusal from
// before this call belongs to another call. A process that slept for too long has lost its place,
// and asks for another.
func (a *attempt) refusal(tx *transaction, again bool) error {
	if err := tx.takeRefusal(a.req.Owner, a.req.Grant); err != nil && again {
		a.refused = err
		return err
	}
	for r, err := range tx.ended {
		if r.Owner == a.req.Owner && r.Grant == a.req.Grant && !errors.Is(err, locktable.ErrExpired) {
			return err
		}
	}
	if tx.table.Find(a.req.Owner, a.req.Grant) != nil {
		return nil
	}
	return a.refused // which an earlier try has taken
}

// needsRenewal reports whether a waiting request needs a sign of life.
func (a *attempt) needsRenewal() bool { return time.Since(a.asked) >= a.req.Lease/4 }

// left returns how long the request may wait from now.
func (a *attempt) left(ctx context.Context) time.Duration {
	left := a.req.Wait - time.Since(a.began)
	if a.req.Wait <= 0 {
		return 0
	}
	if deadline, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(deadline))
	}
	return max(left, 1)
}

// settle records the outcome for a request when all operations of the update have been applied.
func (v *view) settle(tx *transaction, r *locktable.Request) {
	if err, over := tx.ended[r]; over {
		v.err = err
		return
	}
	if v.fence = r.Fence(); v.fence != 0 {
		return
	}
	v.queued, v.ticket, v.before = r.Queued(), ticketOf(r), ticketOf(r)
	end := tx.state.Now.Add(unwatchedTime)
	if watched := r.Watched(); watched != nil {
		v.before = ticketOf(watched)
		end = v.before.Ends()
	}
	if own, holds := tx.table.OwnerEnd(r); holds && own.Before(end) {
		end = own
	}
	v.look = end.Sub(tx.state.Now)
}

// unwatchedTime is how long a request with nothing in its way waits for others to let it in: see
// [Backend.Limit].
const unwatchedTime = 100 * time.Millisecond

// wait returns when it is time to look at the ticket again. If the wait is over, it returns the
// outcome.
func (a *attempt) wait(ctx context.Context, v view) (grant pathlock.Grant, over bool, err error) {
	left := a.req.Wait - time.Since(a.began)
	changed := make(chan struct{})
	if v.ticket.Key != "" {
		watching, stop := context.WithCancel(a.store.open)
		defer stop()
		a.store.running.Go(func() {
			a.store.backend.Watch(watching, a.req.Tree, v.ticket, v.before)
			if watching.Err() == nil {
				close(changed)
			}
		})
	}
	select {
	case <-changed:
		return pathlock.Grant{}, false, nil
	case <-time.After(min(left, v.look, time.Until(a.asked.Add(a.req.Lease/3)))):
		if time.Since(a.began) < a.req.Wait {
			return pathlock.Grant{}, false, nil
		}
	case <-ctx.Done():
	case <-a.store.closing.Done():
		return pathlock.Grant{}, true, a.store.failed(errClosed)
	}
	grant, err = a.giveUp(ctx)
	return grant, true, err
}

// giveUp takes the request out of the queue, unless its wait is over. It returns why the request
// was not granted.
func (a *attempt) giveUp(ctx context.Context) (pathlock.Grant, error) {
	if soon := time.Now().Add(cleanupTime); ctx.Err() != nil && soon.Before(a.until) {
		a.until = soon
	}
	var v view
	op := &operation{apply: func(tx *transaction) {
		v = view{}
		if v.err = a.refusal(tx, true); v.err != nil {
			return
		}
		r := tx.table.Find(a.req.Owner, a.req.Grant)
		switch {
		case r == nil:
			v.err = a.inVain(ctx, nil)
		case r.Fence() != 0:
			v.fence = r.Fence()
		default:
			v.err = a.inVain(ctx, func(cause error) error {
				return tx.table.Conflict(r, time.Since(a.began), cause)
			})
			tx.table.GiveUp(r)
		}
	}}
	if err := a.store.do(context.WithoutCancel(ctx), a.until, a.req.Tree, op); err != nil {
		a.open = true
		return pathlock.Grant{}, a.failed(ctx, true, err)
	}
	a.unsettled = false
	if v.err != nil {
		return pathlock.Grant{}, v.err
	}
	return pathlock.Grant{Fence: v.fence, Asked: a.asked}, nil
}

// inVain returns why a wait has ended: the context was cancelled, or the time is up.
func (a *attempt) inVain(ctx context.Context, conflict func(cause error) error) error {
	cause := ctx.Err()
	if cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return a.store.failed(fmt.Errorf("waiting for a lock in %s: %w", a.req.Tree, cause))
	}
	if conflict != nil {
		return conflict(cause)
	}
	return &pathlock.ConflictError{Tree: a.req.Tree, Gate: a.req.Gate, Waited: time.Since(a.began), Err: cause}
}

// failed returns the error of a request that the store could not be asked about. queued says that
// the request had begun to wait.
func (a *attempt) failed(ctx context.Context, queued bool, err error) error {
	switch cause := ctx.Err(); {
	case cause != nil && (queued || !errors.Is(cause, context.DeadlineExceeded)):
		return a.inVain(ctx, nil)
	case cause == nil, errors.Is(err, cause):
		return err
	default:
		return fmt.Errorf("%w: %w", err, cause)
	}
}
