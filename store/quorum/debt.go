package quorum

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/pathlock-go/pathlock"
)

// debt is what a member has to give back: a grant, or everything that an owner has where no grant
// is named.
type debt struct {
	tree  pathlock.Tree
	owner pathlock.Owner
	grant pathlock.GrantID
}

const (
	// mostDebts is how many debts are remembered for a member. The leases see to the rest.
	mostDebts = 10_000
	// longestDebt is for how long a debt is remembered.
	longestDebt = time.Hour
)

// owe has the member give something back when it answers again. The lease, 0 if it is not known, is
// when it is free without that.
func (m *member) owe(d debt, lease time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.debts) >= mostDebts {
		return
	}
	if lease <= 0 || lease > longestDebt {
		lease = longestDebt
	}
	m.debts[d] = time.Now().Add(lease)
	m.fallSilent(errTimeout)
}

// settle gives back what the member owes. The error is that of the first attempt that fails.
func (m *member) settle() error {
	m.mu.Lock()
	debts := maps.Clone(m.debts)
	m.mu.Unlock()
	for d, until := range debts {
		if time.Now().Before(until) {
			if err := m.giveBack(d); err != nil {
				return err
			}
		}
		m.mu.Lock()
		delete(m.debts, d)
		m.mu.Unlock()
	}
	return nil
}

// giveBack gives something back once. That there is nothing is no error.
func (m *member) giveBack(d debt) error {
	err := m.within(m.quorum.config.timeout, func(ctx context.Context) error {
		if d.grant == "" {
			return m.store.ForceRelease(ctx, d.tree, d.owner)
		}
		return m.store.Release(ctx, d.tree, d.owner, d.grant)
	})
	if errors.Is(err, pathlock.ErrNotHeld) {
		return nil
	}
	return err
}

// giveBackOrOwe gives something back, now or when the member answers again.
func (m *member) giveBackOrOwe(d debt, lease time.Duration) {
	if m.isSilent() || m.giveBack(d) != nil {
		m.owe(d, lease)
	}
}
