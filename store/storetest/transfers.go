package storetest

import (
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

// requireLeft checks how long a lease that was set in the course of the test is said to last.
func (f *fixture) requireLeft(got pathlock.Transferred, lease time.Duration) {
	f.Helper()
	if got.Left > lease || got.Left < lease-patience || got.Left <= 0 {
		f.Fatalf("the lease lasts %v, want %v", got.Left, lease)
	}
}
