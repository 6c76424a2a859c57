package pathlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// renewer keeps the leases of one process alive: each is renewed at a third of its
// length, those of one tree together in one call.
//
// It consists of one timer. When it fires, the renewals run on its goroutine, bounded by the leases themselves,
// and arm it anew if something is held still. It is not stopped by the last release: it would have to be set again with the
// next grant, and costs less if it fires once in vain.
type renewer struct {
	locker *Locker

	mu      sync.Mutex
	held    map[*holding]struct{}
	timer   *time.Timer
	fires   time.Time // when the timer fires; zero while it is not armed
	running bool      // a round of renewals is under way and will arm the timer itself
}

// term is the time that a holding's lease has.
type term struct {
	lease time.Duration // the longest that was asked for
	ends  time.Time     // until when the lease is certain to live, by the local monotonic clock
	renew time.Time     // when to renew it
}

// errLeaseEnded is why a lock is lost that could not be renewed in time.
var errLeaseEnded = errors.New("the lease ended before it could be renewed")

// errLeaseGone is why a lock is lost that the store knows nothing of any more.
var errLeaseGone = errors.New("the store has it no more")

func (r *renewer) init(l *Locker) {
	r.locker = l
	r.held = make(map[*holding]struct{})
}

// extend notes that the store was asked at the time sent to let h's lease last for at least lease, and did.
func (r *renewer) extend(h *holding, lease time.Duration, sent time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[h] = struct{}{}
	t := &h.term
	t.lease = max(t.lease, lease)
	if ends := sent.Add(lease); ends.After(t.ends) {
		t.ends = ends
		t.renew = sent.Add(lease / 3)
	}
	if !r.running {
		r.arm(t.renew)
	}
}

// forget ends the renewal of h.
func (r *renewer) forget(h *holding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, h)
}

// arm makes the timer fire at the given time unless it fires earlier.
func (r *renewer) arm(at time.Time) {
	if !r.fires.IsZero() && !at.Before(r.fires) {
		return
	}
	r.fires = at
	if r.timer == nil {
		r.timer = time.AfterFunc(time.Until(at), r.round)
		return
	}
	r.timer.Reset(time.Until(at))
}

// round renews what is due, and arms the timer for what is due next.
func (r *renewer) round() {
	r.mu.Lock()
	r.fires = time.Time{}
	if r.running {
		// The timer was set anew when it was firing already: this is beside the round that does the work.
		r.mu.Unlock()
		return
	}
	due, until := r.due(time.Now())
	r.running = len(due) > 0
	r.mu.Unlock()

	if len(due) > 0 {
		ctx, stop := context.WithDeadline(context.Background(), until)
		var trees sync.WaitGroup
		for tree, batch := range due {
			trees.Go(func() { r.renewTree(ctx, tree, batch) })
		}
		trees.Wait()
		stop()
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = false
	for h := range r.held {
		r.arm(h.term.renew)
	}
}

// due returns the holdings to renew now, by tree, and when the first of all leases
// ends: no call may keep the others waiting for longer. A tree with one that is due takes
// along those that will be soon.
func (r *renewer) due(now time.Time) (batches map[Tree][]*holding, until time.Time) {
	batches = make(map[Tree][]*holding)
	for h := range r.held {
		if until.IsZero() || h.term.ends.Before(until) {
			until = h.term.ends
		}
		if !h.term.renew.After(now) {
			batches[h.tree] = nil
		}
	}
	for h := range r.held {
		if _, ok := batches[h.tree]; ok && !h.term.renew.After(now.Add(h.term.lease/6)) {
			batches[h.tree] = append(batches[h.tree], h)
		}
	}
	return batches, until
}

// renewTree renews a batch of one tree's leases, and tells those whose leases are lost.
func (r *renewer) renewTree(ctx context.Context, tree Tree, batch []*holding) {
	leases := make([]Lease, len(batch))
	grants := make([][]*grant, len(batch))
	for i, h := range batch {
		leases[i] = Lease{Owner: h.scope.owner, For: r.leaseOf(h)}
		grants[i] = h.held()
	}
	sent := time.Now()
	lost, err := r.askStore(ctx, tree, leases)
	for i, h := range batch {
		switch {
		case err != nil:
			if r.postpone(h) {
				report(ctx, r.locker.log, slog.LevelWarn, "pathlock: renewal failed", "tree", tree, "owner", h.scope.owner, "error", err)
			} else {
				h.lose(grants[i], fmt.Errorf("%w: %w", errLeaseEnded, err))
			}
		case slices.Contains(lost, h.scope.owner):
			h.lose(grants[i], errLeaseGone)
		default:
			r.renewed(h, leases[i].For, sent)
		}
	}
}

// askStore has the store renew leases. A store that panics has failed.
func (r *renewer) askStore(ctx context.Context, tree Tree, leases []Lease) (lost []Owner, err error) {
	defer panicked(&err)
	return r.locker.store.Renew(ctx, tree, leases)
}

// leaseOf returns how long h's lease is to last.
func (r *renewer) leaseOf(h *holding) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return h.term.lease
}

// renewed notes a successful renewal.
func (r *renewer) renewed(h *holding, lease time.Duration, sent time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.term.ends = sent.Add(lease)
	h.term.renew = sent.Add(lease / 3)
}

// postpone plans another try at a renewal that failed, and reports whether
// there is time for one before the lease ends.
func (r *renewer) postpone(h *holding) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if !now.Before(h.term.ends) {
		return false
	}
	h.term.renew = now.Add(min(h.term.lease/10, h.term.ends.Sub(now)))
	return true
}
