package storetest_test

import (
	"context"
	"slices"
	"sync"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// unfair is a store in memory with a queue of its own: it tries everybody who waits whenever
// something changes, and serves them in an order of its own.
type unfair struct {
	*memstore.Store
	// passes says whether a request passes the waiters before it with which it conflicts, given
	// whether its owner holds something.
	passes func(holds bool) bool

	mu    sync.Mutex
	queue []*unfairly
}

// unfairly is one who waits.
type unfairly struct {
	req     pathlock.Acquisition
	granted chan pathlock.Grant
}

func (u *unfair) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	u.mu.Lock()
	w := &unfairly{req: req, granted: make(chan pathlock.Grant, 1)}
	g, err := u.try(ctx, w)
	if err == nil || req.Wait == 0 {
		u.mu.Unlock()
		return g, err
	}
	u.queue = append(u.queue, w)
	u.mu.Unlock()
	if req.Waiting != nil {
		req.Waiting()
	}
	select {
	case g := <-w.granted:
		return g, nil
	case <-ctx.Done():
		u.mu.Lock()
		defer u.mu.Unlock()
		u.queue = slices.DeleteFunc(u.queue, func(q *unfairly) bool { return q == w })
		return pathlock.Grant{}, ctx.Err()
	}
}

// try grants a request if no holder is in its way, and nobody before it whom it does not pass.
func (u *unfair) try(ctx context.Context, w *unfairly) (pathlock.Grant, error) {
	snap, err := u.Store.Snapshot(ctx, w.req.Tree)
	if err != nil {
		return pathlock.Grant{}, err
	}
	holds := slices.ContainsFunc(snap.Holders, func(h pathlock.Entry) bool { return h.Owner == w.req.Owner })
	for _, q := range u.queue {
		if q == w {
			break
		}
		if q.req.Tree == w.req.Tree && clash(q.req, w.req) && !u.passes(holds) {
			return pathlock.Grant{}, &pathlock.ConflictError{Tree: w.req.Tree, Blocker: pathlock.Blocker{Owner: q.req.Owner, Waiting: true}}
		}
	}
	now := w.req
	now.Wait, now.Waiting = 0, nil
	return u.Store.Acquire(ctx, now)
}

// clash reports whether two requests claim one node in modes that exclude each other.
func clash(a, b pathlock.Acquisition) bool {
	for _, p := range a.Claims {
		for _, q := range b.Claims {
			if p.Path == q.Path && !pathlock.Compatible(p.Mode, q.Mode) && a.Owner != b.Owner {
				return true
			}
		}
	}
	return false
}

func (u *unfair) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	err := u.Store.Release(ctx, tree, owner, id)
	u.queue = slices.DeleteFunc(u.queue, func(w *unfairly) bool {
		g, err := u.try(ctx, w)
		if err == nil {
			w.granted <- g
		}
		return err == nil
	})
	return err
}

func (u *unfair) Snapshot(ctx context.Context, tree pathlock.Tree) (pathlock.Snapshot, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	snap, err := u.Store.Snapshot(ctx, tree)
	for _, w := range u.queue {
		if w.req.Tree == tree {
			snap.Waiters = append(snap.Waiters, pathlock.Entry{Owner: w.req.Owner, Claims: w.req.Claims, Note: w.req.Note})
		}
	}
	return snap, err
}

// newUnfair returns what makes an unfair store.
func newUnfair(passes func(holds bool) bool) func() pathlock.Store {
	return func() pathlock.Store { return &unfair{Store: memstore.New(), passes: passes} }
}
