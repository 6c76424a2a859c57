package storetest_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// mortal is a client of a store in memory that can die: a server's, as it were, which hears of it
// no more. What it waits for and holds ends one lease after its death, unless it is granted whole
// leases.
type mortal struct {
	pathlock.Store
	wholeLeases bool
	dead        chan struct{}
	under       sync.WaitGroup
}

// newMortal returns two clients of one store, and what has the second one die.
func newMortal(wholeLeases bool) func(*testing.T) (survivor, victim pathlock.Store, crash func()) {
	return func(t *testing.T) (pathlock.Store, pathlock.Store, func()) {
		store := memstore.New()
		m := &mortal{Store: store, wholeLeases: wholeLeases, dead: make(chan struct{})}
		t.Cleanup(m.under.Wait)
		return store, m, func() { close(m.dead) }
	}
}

func (m *mortal) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	select {
	case <-m.dead:
		return pathlock.Grant{}, pathlock.ErrUnavailable
	default:
	}
	type answer struct {
		grant pathlock.Grant
		err   error
	}
	answers := make(chan answer, 1)
	request, cancel := context.WithCancel(context.WithoutCancel(ctx))
	m.under.Go(func() {
		g, err := m.Store.Acquire(request, req)
		answers <- answer{g, err}
	})
	select {
	case a := <-answers:
		cancel()
		return a.grant, a.err
	case <-m.dead:
		m.under.Go(func() {
			defer cancel()
			if time.Sleep(req.Lease); !m.wholeLeases {
				_ = m.Store.ForceRelease(request, req.Tree, req.Owner)
			}
		})
		return pathlock.Grant{}, pathlock.ErrUnavailable
	case <-ctx.Done():
		cancel()
		a := <-answers
		return a.grant, a.err
	}
}

func (m *mortal) Release(ctx context.Context, tree pathlock.Tree, owner pathlock.Owner, id pathlock.GrantID) error {
	select {
	case <-m.dead:
		return pathlock.ErrUnavailable
	default:
		return m.Store.Release(ctx, tree, owner, id)
	}
}
