package storetest

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
)

func (m *machine) release() {
	i := m.random.IntN(len(m.holds))
	r := m.holds[i]
	m.note("release of %v", r)
	m.holds = slices.Delete(m.holds, i, i+1)
	if err := m.store.Release(m.ctx, m.tree, r.owner, r.req.Grant); err != nil {
		m.Fatalf("release of %v: %v", r, err)
	}
	if m.random.IntN(4) == 0 {
		m.requireIs(m.store.Release(m.ctx, m.tree, r.owner, r.req.Grant), pathlock.ErrNotHeld)
	}
}

// repeat sends a granted request again: whoever waits, it gets the same grant.
func (m *machine) repeat() {
	if len(m.holds) == 0 {
		return
	}
	r := m.any(m.holds)
	m.note("repetition of %v", r)
	req := r.req
	req.Owner = r.owner // it may have been transferred
	if g, err := m.store.Acquire(m.ctx, req); err != nil || g.Fence != r.fence {
		m.Fatalf("the fence is %d, %v; want %d as before", g.Fence, err, r.fence)
	}
}

// releaseWhatIsNotHeld names a grant that waits, another's, or none: nothing changes.
func (m *machine) releaseWhatIsNotHeld() {
	owner, id, tree := m.anybody().owner, pathlock.GrantID("none"), m.tree
	switch {
	case len(m.waits) > 0 && m.random.IntN(2) == 0:
		r := m.any(m.waits)
		owner, id = r.owner, r.req.Grant
	case len(m.holds) > 0 && m.random.IntN(2) == 0:
		id = m.any(m.holds).req.Grant
	case len(m.holds) > 0:
		r := m.any(m.holds)
		owner, id, tree = r.owner, r.req.Grant, m.elsewhere
	}
	if tree == m.tree && slices.ContainsFunc(m.holds, func(h *shadow) bool { return h.owner == owner && h.req.Grant == id }) {
		return
	}
	m.note("release of %s's %s in %v", owner.Short(), id, tree)
	m.requireIs(m.store.Release(m.ctx, tree, owner, id), pathlock.ErrNotHeld)
}

// renewAll requires that a renewal of all owners tells which of them hold nothing.
func (m *machine) renewAll() {
	m.note("renewal")
	var leases []pathlock.Lease
	var want []pathlock.Owner
	for _, a := range m.actors {
		leases = append(leases, pathlock.Lease{Owner: a.owner, For: long})
		if !m.isHolder(a.owner) {
			want = append(want, a.owner)
		}
	}
	lost, err := m.store.Renew(m.ctx, m.tree, leases)
	slices.Sort(lost)
	slices.Sort(want)
	if err != nil || !slices.Equal(lost, want) {
		m.Fatalf("the lost are %q, %v; want %q", lost, err, want)
	}
}

// force takes away what somebody has and waits for.
func (m *machine) force() {
	a := m.anybody()
	m.note("force release of %s", a.name)
	waits := m.ofOwner(a.owner)
	nothing := !m.isHolder(a.owner) && len(waits) == 0
	ofOwner := func(r *shadow) bool { return r.owner == a.owner }
	m.holds, m.waits = slices.DeleteFunc(m.holds, ofOwner), slices.DeleteFunc(m.waits, ofOwner)
	err := m.store.ForceRelease(m.ctx, m.tree, a.owner)
	if nothing {
		m.requireIs(err, pathlock.ErrNotHeld)
		return
	}
	if err != nil {
		m.Fatalf("ForceRelease: %v", err)
	}
	for _, r := range waits {
		m.requireIs(r.pending.fails(), pathlock.ErrLost)
	}
}

// transfer gives what somebody holds to a new owner, or to the same one, and sends that twice. What
// waits stays with its owner.
func (m *machine) transfer() {
	m.actors = slices.DeleteFunc(m.actors, func(a *actor) bool {
		return a.owner.Detached() && !m.isHolder(a.owner) && len(m.ofOwner(a.owner)) == 0
	})
	from := m.anybody()
	if len(m.holds) > 0 && m.random.IntN(4) > 0 {
		// An owner that holds more is drawn more often, so that several grants move at once.
		from = m.any(m.holds).actor
	}
	to := from
	if m.random.IntN(3) > 0 {
		m.heirs++
		to = m.detached(fmt.Sprint("heir ", m.heirs))
	}
	m.note("transfer from %s to %s", from.name, to.name)
	for range 2 {
		got, err := from.transfer(to, long)
		if !m.isHolder(from.owner) && !m.isHolder(to.owner) {
			m.requireIs(err, pathlock.ErrLost)
			return
		}
		if err != nil {
			m.Fatalf("Transfer: %v", err)
		}
		for _, r := range m.holds {
			if r.owner == from.owner {
				r.actor = to
				m.used[name{to.owner, r.req.Grant}] = true
			}
		}
		m.requireTransferred(to, got)
	}
	if to != from {
		m.actors = append(m.actors, to)
	}
}

// requireTransferred checks what a transfer says of what an owner holds.
func (m *machine) requireTransferred(to *actor, got pathlock.Transferred) {
	m.Helper()
	m.requireLeft(got, long)
	held := slices.DeleteFunc(slices.Clone(m.holds), func(r *shadow) bool { return r.owner != to.owner })
	if len(got.Grants) != len(held) {
		m.Fatalf("the transfer names %+v, want %v", got.Grants, held)
	}
	for i, r := range held {
		g := got.Grants[i]
		if g.ID != r.req.Grant || g.Gate != r.req.Gate || g.Note != r.req.Note || g.Fence != r.fence || g.Apart || !slices.Equal(g.Claims, r.req.Claims) {
			m.Fatalf("the transfer names %+v, want %v", g, r)
		}
	}
}
