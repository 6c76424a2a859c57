package pathlock

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// call is one that the renewer sends to the store: the renewal of a batch of one tree's leases, or
// a look at one hold that is not renewed.
type call struct {
	tree     Tree
	number   uint64
	holdings []*holding
	leases   []Lease // of the holdings, in their order
	look     bool
	patience time.Duration // how long to wait for an answer
	sent     time.Time
}

// run sends the call, and notes its outcome for each holding.
func (c *call) run(r *renewer) {
	grants := make([][]*grant, len(c.holdings))
	for i, h := range c.holdings {
		grants[i] = h.currentGrants()
	}
	ctx, stop := context.WithTimeout(context.Background(), c.patience)
	defer stop()
	c.sent = time.Now()
	left, err := c.ask(ctx, r.store)
	for i, h := range c.holdings {
		switch remains, held := left[h.scope.owner]; {
		case err != nil:
			if r.failed(c, h, err) {
				report(ctx, r.log, slog.LevelWarn, "pathlock: renewal failed", "tree", c.tree, "owner", h.scope.owner, "error", err)
			}
		case !held:
			h.lose(grants[i], errLeaseGone)
		default:
			r.answered(c, h, remains)
		}
	}
}

// ask returns how long the lease of each owner that still holds something lasts, from when the call
// was sent. A store that panics has failed.
func (c *call) ask(ctx context.Context, store Store) (left map[Owner]time.Duration, err error) {
	defer panicked(&err)
	left = make(map[Owner]time.Duration, len(c.leases))
	if c.look {
		return left, c.lookAt(ctx, store, left)
	}
	lost, err := store.Renew(ctx, c.tree, c.leases)
	if err != nil {
		return nil, err
	}
	for _, lease := range c.leases {
		left[lease.Owner] = max(left[lease.Owner], lease.For)
	}
	for _, owner := range lost {
		delete(left, owner)
	}
	return left, nil
}

// lookAt asks how long an attached hold lasts, without prolonging it.
func (c *call) lookAt(ctx context.Context, store Store, left map[Owner]time.Duration) error {
	owner := c.leases[0].Owner
	s, ok := store.(TransferStore)
	if !ok {
		return errors.ErrUnsupported
	}
	got, err := s.Transfer(ctx, Transfer{Tree: c.tree, From: owner, To: owner})
	if errors.Is(err, ErrLost) {
		return nil
	}
	if err == nil {
		left[owner] = got.Left
	}
	return err
}

// answered notes that h's lease lasts for left from when c was sent.
func (r *renewer) answered(c *call, h *holding, left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &h.term
	if t.over || c.look && t.call != c.number {
		return
	}
	if c.look {
		t.learn(c.sent, left)
	} else {
		t.believe(h.isShared(), c.sent, left)
	}
	t.failed = nil
	if t.call == c.number {
		t.renew = c.sent.Add(t.pause(h.isShared()))
	}
	r.reschedule(h)
}

// failed notes that c failed, plans another try, and reports whether the failure is news.
func (r *renewer) failed(c *call, h *holding, err error) (news bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := &h.term
	if t.over || t.call != c.number {
		return false
	}
	news = t.failed == nil
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		// The call's own timeout would look like the end of the holder's context.
		err = fmt.Errorf("%w: no answer in time", ErrUnavailable)
	}
	t.failed = err
	t.renew = time.Now().Add(t.lease / 10)
	r.reschedule(h)
	return news
}
