package storetest

import (
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// detached returns a new owner of a detached hold.
func (f *fixture) detached(name string) *actor {
	a := f.actor(name)
	a.owner = "d-" + a.owner
	if !a.owner.Detached() {
		f.Fatalf("%q is no detached owner", a.owner)
	}
	return a
}

// transfer gives what the actor holds to another.
func (a *actor) transfer(to *actor, lease time.Duration) (pathlock.Transferred, error) {
	return a.store.Transfer(a.ctx, pathlock.Transfer{Tree: a.tree, From: a.owner, To: to.owner, Lease: lease})
}

// tryTransfer is transfer for those who want to know how it ends. What the new owner holds is
// released at the end of the test at the latest.
func (a *actor) tryTransfer(to *actor, lease time.Duration) error {
	got, err := a.transfer(to, lease)
	for _, g := range got.Grants {
		to.hold(g.ID, pathlock.Grant{Fence: g.Fence})
	}
	return err
}

// transfers requires that a transfer works.
func (a *actor) transfers(to *actor, lease time.Duration) pathlock.Transferred {
	a.Helper()
	got, err := a.transfer(to, lease)
	if err != nil {
		a.Fatalf("a transfer from %s to %s: %v", a.name, to.name, err)
	}
	for _, g := range got.Grants {
		to.hold(g.ID, pathlock.Grant{Fence: g.Fence})
	}
	return got
}

// detaches requires that what the actor holds can be given to an owner who needs no process, and
// returns that one.
func (a *actor) detaches(lease time.Duration) *actor {
	a.Helper()
	token := a.detached("token of " + a.name)
	a.transfers(token, lease)
	return token
}

// releases requires that a grant which the actor has by a transfer can be given back.
func (a *actor) releases(id pathlock.GrantID) {
	a.Helper()
	if err := a.store.Release(a.ctx, a.tree, a.owner, id); err != nil {
		a.Fatalf("%s releases: %v", a.name, err)
	}
}

// requireGrants checks that a transfer names the given grants, and the claims that they have.
func (f *fixture) requireGrants(got pathlock.Transferred, want ...*grant) {
	f.Helper()
	if len(got.Grants) != len(want) {
		f.Fatalf("the transfer names %+v, want %d grants", got.Grants, len(want))
	}
	holders := f.holders(len(want))
	for i, g := range got.Grants {
		if g.ID != want[i].id || g.Fence != want[i].fence {
			f.Errorf("grant %d is %q with the fence %d, want %q with %d", i, g.ID, g.Fence, want[i].id, want[i].fence)
		}
		if !slices.Equal(g.Claims, want[i].set) || !slices.Equal(holders[i].Claims, want[i].set) {
			f.Errorf("grant %d has %v, in the snapshot %v, want %v", i, g.Claims, holders[i].Claims, want[i].set)
		}
	}
}

// requireLeft checks how long a lease that was set in the course of the test is said to last.
func (f *fixture) requireLeft(got pathlock.Transferred, lease time.Duration) {
	f.Helper()
	if got.Left > lease || got.Left < lease-patience || got.Left <= 0 {
		f.Fatalf("the lease lasts %v, want %v", got.Left, lease)
	}
}
