package pathlock

import (
	"context"
	"fmt"
	"time"
)

// TransferStore is a [Store] in which holds can outlive their process. Every store of this module
// is one, and store/storetest requires it. A store that wraps another passes the method on.
type TransferStore interface {
	Store
	// Transfer gives everything that an owner holds in a tree to another owner, or to the same one,
	// and sets the end of the lease if t.Lease is positive, in one atomic step. It returns what To
	// then holds. Fences stay.
	//
	// If From and To are the same, grants that are apart stay apart. Otherwise all grants share the
	// lease of To from then on, and the requests of From keep waiting as those of an owner that
	// holds nothing.
	//
	// The error matches [ErrLost], and nothing changes, if From holds nothing. A transfer that is
	// sent again, because its reply was lost, gets the first answer: To holds by then what From
	// held.
	Transfer(ctx context.Context, t Transfer) (Transferred, error)
}

// Transfer asks a [TransferStore] to give everything that one owner holds in a tree to another, or
// to set the end of its lease, or both. Holds that outlive their process rest on it: see
// [Lock.Detach].
type Transfer struct {
	Tree Tree
	// From holds something, and To will. They may be the same. If not, To is a new owner.
	From, To Owner
	// Lease, where positive, is how long the lease lasts from now. It may end earlier than it would
	// have. Where it is 0, the end stays.
	Lease time.Duration
}

// Validate refuses transfers that no [Locker] makes. Stores call it first. The error matches
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
	// Grants are all that To holds, in order of their fences.
	Grants []TransferredGrant
	// Left is how long the lease that the grants share lasts, from the store's answer on.
	Left time.Duration
}

// TransferredGrant is one grant in a [Transferred].
type TransferredGrant struct {
	ID GrantID
	// Gate says that the grant is of the tree's gate.
	Gate bool
	// Claims is the normalised claim set, in folded paths.
	Claims []Claim
	Note   string
	Fence  uint64
	// Apart says that the grant has a lease of its own: see [Acquisition.Apart].
	Apart bool
}
