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
	got, err := c.ask(ctx, r.store)
	for i, h := range c.holdings {
		switch owner := h.scope.owner; {
		case got.lost[owner]:
			h.lose(grants[i], errLeaseGone)
		case err != nil:
			if r.failed(c, h, err) {
				report(ctx, r.log, slog.LevelWarn, "pathlock: renewal failed", "tree", c.tree, "owner", owner, "error", err)
			}
		default:
			r.answered(c, h, got.left[owner])
		}
	}
}

// answer is what the store says to a call. Beside an error, only the losses count.
type answer struct {
	lost map[Owner]bool          // who holds nothing
	left map[Owner]time.Duration // how long the others' leases last, from when the call was sent
}

// ask sends the call. A store that panics has failed.
func (c *call) ask(ctx context.Context, store Store) (got answer, err error) {
	defer panicked(&err)
	if c.look {
		return c.lookAt(ctx, store)
	}
	lost, err := store.Renew(ctx, c.tree, c.leases)
	got.lost = make(map[Owner]bool, len(lost))
	for _, owner := range lost {
		got.lost[owner] = true
	}
	got.left = make(map[Owner]time.Duration, len(c.leases))
	for _, lease := range c.leases {
		got.left[lease.Owner] = max(got.left[lease.Owner], lease.For)
	}
	return got, err
}

// lookAt asks how long an attached hold lasts, without prolonging it.
func (c *call) lookAt(ctx context.Context, store Store) (answer, error) {
	owner := c.leases[0].Owner
	s, ok := store.(TransferStore)
	if !ok {
		return answer{}, errors.ErrUnsupported
	}
	switch got, err := s.Transfer(ctx, Transfer{Tree: c.tree, From: owner, To: owner}); {
	case errors.Is(err, ErrLost):
		return answer{lost: map[Owner]bool{owner: true}}, nil
	case err != nil:
		return answer{}, err
	default:
		return answer{left: map[Owner]time.Duration{owner: got.Left}}, nil
	}
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
