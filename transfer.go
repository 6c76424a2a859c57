package pathlock

import (
	"context"
	"fmt"
	"time"
)

// TransferStore is a [Store] in which holds can outlive their process. Every store of this module
// is one, and store/storetest asks for it. A store that wraps another passes the method on.
type TransferStore interface {
	Store
	// Transfer gives everything that an owner holds in a tree to another, or to the same, and sets
	// the end of its lease where it is told to, in one atomic step; then it says what that is.
	// Fences stay. What waits in the name of From keeps waiting, as a request of an owner who holds
	// nothing, unless From and To are the same. Grants that are apart stay so where From and To are
	// the same. Where they are not, all grants share the lease of To from then on.
	//
	// It returns an error that matches [ErrLost], and changes nothing, if From holds nothing (any
	// more). A transfer that is sent again, because its reply was lost, is answered as the first
	// one: by then To holds what From did.
	Transfer(ctx context.Context, t Transfer) (Transferred, error)
}

// Transfer asks a [TransferStore] to give everything that one owner holds in a tree to another, or
// to set the end of its lease, or both. It is what holds that outlive their process are made of:
// see [Lock.Detach].
type Transfer struct {
	Tree Tree
	// From holds something, and To will. They may be the same; if not, nobody has used To before.
	From, To Owner
	// Lease, where positive, is how long the lease lasts from now on: it is set to end then, also
	// earlier than it would have. Where it is 0, the lease ends when it would have.
	Lease time.Duration
}

// Validate refuses transfers that no [Locker] makes, for stores to call first. The error matches
// [ErrInvalidRequest].
func (t Transfer) Validate() error {
	switch {
	case t.Tree.IsZero():
		return fmt.Errorf("%w: no tree", ErrInvalidRequest)
	case t.From == "" || t.To == "":
		return fmt.Errorf("%w: a transfer names two owners", ErrInvalidRequest)
	case t.Lease < 0:
		return fmt.Errorf("%w: a lease of %v", ErrInvalidRequest, t.Lease)
	}
	return nil
}

// Transferred is a store's answer to a [Transfer].
type Transferred struct {
	// Grants is what To holds: all grants, in order of their fences.
	Grants []TransferredGrant
	// Left is how long the lease lasts that the grants share, from the moment at which the store
	// answered.
	Left time.Duration
}

// TransferredGrant is one grant of those that a [Transferred] names.
type TransferredGrant struct {
	ID GrantID
	// Gate says that the tree's gate is held.
	Gate bool
	// Claims is the normalised claim set, in folded paths.
	Claims []Claim
	Note   string
	Fence  uint64
	// Apart says that the grant has a lease of its own: see [Acquisition.Apart].
	Apart bool
}
