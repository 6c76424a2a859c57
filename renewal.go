package pathlock

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// call is one that the renewer sends to the store: the renewal of a batch of one tree's leases, or
// a look at one hold that is not to be renewed.
type call struct {
	tree     Tree
	number   uint64
	holdings []*holding
	leases   []Lease // of the holdings, in their order
	look     bool
	patience time.Duration // for how long an answer is waited for
	sent     time.Time
}

// run sends the call, and tells those whose leases are lost.
func (c *call) run(r *renewer) {
	grants := make([][]*grant, len(c.holdings))
	for i, h := range c.holdings {
		grants[i] = h.held()
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

// ask has the store answer the call, and returns how long the lease of each owner that holds
// anything lasts from the moment at which the call was sent. A store that panics has failed.
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

// lookAt asks for how long an attached hold lasts, without making it last longer.
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
