package pathlock

import (
	"context"
	"fmt"
	"time"
)

// Store is what a lock store implements, and store/storetest checks. A store
// knows nothing of re-entry, contexts or background renewal: a [Locker] adds those.
//
// Every method may be called by any number of goroutines. A method that
// cannot reach the store, or is told by it that it cannot serve, returns an
// error that matches [ErrUnavailable].
type Store interface {
	// Acquire grants the whole of req, or nothing, in one atomic step.
	//
	// It waits for at most req.Wait. A request waits for those holders that it conflicts with, and
	// for the earlier waiters that it conflicts with and may not pass: an owner that holds
	// something in the tree may pass a waiter that waits for that owner, so that it can come to its
	// end, and nobody may pass any other. So a waiter is passed by 0 grants to owners that it does
	// not wait for. A request waits for an owner if it conflicts with what that owner holds, with
	// what a holder has who waits for that owner, or if it is behind an earlier waiter that waits
	// for it.
	//
	// Where a holder in its way waits for its own owner, a request that may wait gets a
	// [*DeadlockError] at once: granting it would need that holder to go first.
	//
	// Where req.Held is set and the owner holds nothing (any more), it returns an error
	// that matches [ErrLost]; so it does when ForceRelease takes a waiting request away, or
	// when the lease ends under which its owner holds something.
	//
	// A lease begins with the grant, where it is made at once, and with the waiter's last sign of
	// life, where it is handed over: a waiter that has crashed is handed no more than what is left.
	// Its place in the queue ends within one lease of that moment, too.
	//
	// When the time is up it returns a [*ConflictError], also where waiting would have
	// been in vain but no wait was asked for; it also matches the
	// context's error if it was the context's deadline that ended the wait. When ctx is
	// cancelled it returns an error that matches ctx.Err(). After any error nothing is held and
	// nothing is queued; where the store could not be told so, the lease sees to it.
	//
	// A second call with the same owner and grant id is answered with the same grant. It is a sign
	// of life: it prolongs the lease that the grant lives by.
	Acquire(ctx context.Context, req Acquisition) (Grant, error)

	// Release gives back one grant. What other grants of the owner need stays held. It returns an
	// error that matches [ErrNotHeld], and changes nothing, if there is no such grant.
	Release(ctx context.Context, tree Tree, owner Owner, id GrantID) error

	// Renew makes each owner's lease in the tree last from now for at least the given time;
	// it never shortens one. It returns the owners that hold nothing in the tree (any more). A
	// [Lease] of one apart grant prolongs that grant's alone, and its owner is returned where the
	// owner has no such grant (any more). An owner that such a lease names is named once in a call.
	Renew(ctx context.Context, tree Tree, leases []Lease) (lost []Owner, err error)

	// Snapshot returns who holds and who waits in a tree at one instant.
	Snapshot(ctx context.Context, tree Tree) (Snapshot, error)

	// Trees returns the trees in which somebody holds or waits, in no particular order.
	Trees(ctx context.Context) ([]Tree, error)

	// ForceRelease takes away everything that owner holds, and its places in the
	// queue, in the tree. It returns an error that matches [ErrNotHeld] if there is nothing.
	ForceRelease(ctx context.Context, tree Tree, owner Owner) error

	// Ping reports whether the store can serve.
	Ping(ctx context.Context) error
}

// LocalStore is a [Store] that may be in the process, so that to ask it costs no
// round trip that would be worth a goroutine. A store that wraps another one passes its answer on.
type LocalStore interface {
	Store
	// Local reports whether Release returns without waiting for anything outside of the
	// process, whatever its context.
	Local() bool
}

// Acquisition is one request to a [Store].
type Acquisition struct {
	Tree Tree
	// Owner asks, and will hold.
	Owner Owner
	// Grant is the id of this request and of the grant that it leads to.
	Grant GrantID
	// Gate asks for the tree's gate: the whole tree, exclusively. Claims may be empty then.
	Gate bool
	// Held says that the owner holds something in the tree already. If the store has lost
	// that, the owner has to be told: a new grant would make it look alive.
	Held bool
	// Claims is a claim set: normalised by [Normalize], of folded paths.
	Claims []Claim
	// Lease is how long the owner's holds in this tree live from the moment of the grant, or of the
	// waiter's last sign of life, unless renewed; positive, and at most [Forever]: more counts as
	// that. All grants of an owner in a tree share one lease, except for those that are Apart. It
	// never gets shorter but by [TransferStore].
	Lease time.Duration
	// Apart gives the grant a lease of its own: it neither prolongs the one that the owner's other
	// grants share, nor lives by it, but it ends no later. Where its own ends, that grant alone is
	// released, and handed over. It needs Held: there has to be a lease that it is apart from.
	Apart bool
	// Wait is how long to wait at most; 0 means not at all, and more than [Forever] counts as that.
	Wait time.Duration
	// Note says what for, for people who look at the locks.
	Note string
	// Waiting, where not nil, is called once when the request has taken its
	// place in the queue and begins to wait. It must not block.
	Waiting func()
}

// Validate refuses acquisitions that no [Locker] makes, for stores to call first. The error matches
// [ErrInvalidRequest].
func (a Acquisition) Validate() error {
	switch {
	case a.Tree.IsZero():
		return fmt.Errorf("%w: no tree", ErrInvalidRequest)
	case a.Owner == "" || a.Grant == "":
		return fmt.Errorf("%w: no owner, or no grant id", ErrInvalidRequest)
	case a.Lease <= 0:
		return fmt.Errorf("%w: a lease of %v", ErrInvalidRequest, a.Lease)
	case !a.Gate && len(a.Claims) == 0:
		return fmt.Errorf("%w: neither claims nor the gate", ErrInvalidRequest)
	case a.Apart && !a.Held:
		return fmt.Errorf("%w: a lease apart from none: the owner holds nothing", ErrInvalidRequest)
	}
	for _, c := range a.Claims {
		if !c.Mode.IsValid() {
			return fmt.Errorf("%w: the mode %v of %s", ErrInvalidRequest, c.Mode, c.Path)
		}
	}
	return nil
}

// Grant is a store's answer to an [Acquisition].
type Grant struct {
	// Fence grows strictly with every grant in a tree, over the tree's whole life.
	Fence uint64
	// Asked is the latest moment, by the clock of this process, at which the store is known not to
	// have made the grant yet: when the last question left that was answered by a place in the
	// queue, or the first one. The lease is certain to live for [Acquisition.Lease] from then on. A
	// store that cannot tell leaves it zero; then it is the moment at which Acquire was called.
	Asked time.Time
}

// Lease asks for the renewal of one owner's lease, or of one of its apart grants'.
type Lease struct {
	Owner Owner
	// Grant, where not empty, is the grant whose own lease is to be renewed instead of the owner's:
	// see [Acquisition.Apart].
	Grant GrantID
	// For is how long the lease is to last from now.
	For time.Duration
}

// Snapshot is what a tree's lock table held at one instant.
type Snapshot struct {
	Tree Tree `json:"tree"`
	// Fence is the last fence given out, 0 if none is on record.
	Fence uint64 `json:"fence"`
	// Holders has one entry per grant, in order of their fences.
	Holders []Hold `json:"holders"`
	// Waiters has one entry per queued request, in order of arrival.
	Waiters []Hold `json:"waiters"`
}

// Hold is one grant, or one queued request, in a [Snapshot].
type Hold struct {
	Owner Owner `json:"owner"`
	// Gate is set if the tree's gate is held or asked for.
	Gate bool `json:"gate"`
	// Detached is set if the hold lives without a process, by a [Token]: see [Owner.Detached].
	Detached bool `json:"detached"`
	// Claims is the normalised claim set, in folded paths.
	Claims []Claim `json:"claims"`
	Note   string  `json:"note"`
	// Fence is the grant's; 0 while the request waits.
	Fence uint64 `json:"fence"`
	// Since is when the grant was made or the wait began, Until when the lease that it lives by or
	// the wait ends; both by the store's clock. A grant that is apart ends with the owner's lease
	// where that ends first.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}
