package pathlock

import (
	"context"
	"crypto/rand"
	"log/slog"
	"strings"
	"time"
)

// Store is what a lock store implements and store/storetest checks. A store knows nothing of
// re-entry, contexts or background renewal: a [Locker] adds those.
//
// Any number of goroutines may call any method. Its error matches [ErrUnavailable] if the method
// cannot reach the store, or the store answers that it cannot serve.
type Store interface {
	// Acquire grants the whole of req, or nothing, in one atomic step.
	//
	// It waits for at most req.Wait, in the order of arrival. A request waits for the holders that
	// it conflicts with, and for the earlier waiters that it conflicts with and may not pass. An
	// owner that holds something in the tree may pass a waiter that waits for that owner, so that
	// the owner can finish. No request overtakes any other waiter that it conflicts with. A request
	// waits for an owner if it conflicts with a hold of that owner, if it conflicts with a hold of
	// another owner that waits for that owner, or if it is behind an earlier waiter that does.
	//
	// If a holder in its way waits for its own owner, a request that may wait gets a
	// [*DeadlockError] at once: that holder would have to go first.
	//
	// If a grant is made at once, its lease begins with it. If it is handed over to a waiter, its
	// lease begins with the waiter's last sign of life: a crashed waiter gets no more than what is
	// left. Its place in the queue ends within one lease of that moment too.
	//
	// After any error nothing is held and nothing is queued. If the store cannot be told, the
	// lease's end clears it. The errors are:
	//   - a [*ConflictError] when the time is up, or when req would have to wait and must not. It
	//     also matches the context's error if the context's deadline ended the wait.
	//   - one that matches ctx.Err() when ctx is cancelled
	//   - one that matches [ErrLost] when req.Held is set and the owner holds nothing, when
	//     ForceRelease takes a waiting request away, and when the lease of what the owner holds
	//     ends
	//
	// A second call with the same owner and grant id gets the same grant. It is a sign of life, and
	// prolongs the lease of the grant.
	Acquire(ctx context.Context, req Acquisition) (Grant, error)

	// Release gives back one grant. What other grants of the owner need stays held. The error
	// matches [ErrNotHeld], and nothing changes, if there is no such grant.
	Release(ctx context.Context, tree Tree, owner Owner, id GrantID) error

	// Renew makes each owner's lease in the tree last at least the given time from now. It never
	// shortens a lease. It returns the owners that hold nothing in the tree. They count even beside
	// an error, which says nothing about the other owners.
	//
	// A [Lease] of an apart grant prolongs that grant's lease alone, and returns the owner if it
	// has no such grant. A call names the owner of such a lease once.
	Renew(ctx context.Context, tree Tree, leases []Lease) (lost []Owner, err error)

	// Snapshot returns who holds and who waits in a tree at one instant.
	Snapshot(ctx context.Context, tree Tree) (Snapshot, error)

	// Trees returns the trees in which somebody holds or waits, in no particular order.
	Trees(ctx context.Context) ([]Tree, error)

	// ForceRelease takes away everything that owner holds in the tree, and its places in the queue.
	// The error matches [ErrNotHeld] if there is nothing.
	ForceRelease(ctx context.Context, tree Tree, owner Owner) error

	// Transfer gives everything that an owner holds in a tree to another owner, or to the same one,
	// and sets the end of the lease if t.Lease is positive, in one atomic step. It returns what To
	// then holds. Fences stay. Holds that outlive their process rest on it.
	//
	// If From is To, grants that are apart stay apart. Otherwise all grants share the lease of To
	// from then on, and the requests of From keep waiting as those of an owner that holds nothing.
	//
	// The error matches [ErrLost], and nothing changes, if From holds nothing. A transfer that is
	// sent again, because its reply was lost, gets the first answer: To holds by then what From
	// held. If both hold something, nothing changes, and the error matches [ErrInvalidRequest].
	Transfer(ctx context.Context, t Transfer) (Transferred, error)

	// Ping reports whether the store can serve.
	Ping(ctx context.Context) error

	// Close ends what this client does. Calls that wait end with an error that matches [ErrClosed],
	// and so do later ones. No lock is released: what is held is left to its lease, and to its
	// release by another client. If ctx ends first, the error matches ctx's, and the rest ends in
	// the background, within about the store's time-out. Close may be called again.
	Close(ctx context.Context) error

	// Local reports whether Release returns without waiting for anything outside of the process,
	// whatever its context: then it costs no round trip that would be worth a goroutine. A store
	// that wraps another passes its answer on, unless it may wait itself.
	Local() bool
}

// Owner identifies who holds. Everything acquired under one [Scope] in one tree belongs to one
// owner and never conflicts with itself. An owner is random and unguessable, because knowing it is
// enough to release its holds. Show [Owner.Short] to people and in logs.
type Owner string

// newOwner returns a random owner.
func newOwner() Owner { return Owner(rand.Text()) }

// detachedMark begins the owners of detached holds, and no others.
const detachedMark = "d-"

// newDetachedOwner returns a random owner for a detached hold.
func newDetachedOwner() Owner { return detachedMark + newOwner() }

// Detached reports whether o owns a detached hold, one that [Lock.Detach] has made outlive its
// process. It lives until its lease ends, and its [Token] makes it a lock again.
func (o Owner) Detached() bool { return strings.HasPrefix(string(o), detachedMark) }

// Short returns the first characters of o, enough to recognise it and too few to use it.
func (o Owner) Short() string {
	shown := 6
	if o.Detached() {
		shown += len(detachedMark)
	}
	if len(o) <= shown {
		return string(o)
	}
	return string(o[:shown]) + "…"
}

// LogValue implements [slog.LogValuer]: an owner is never logged whole.
func (o Owner) LogValue() slog.Value { return slog.StringValue(o.Short()) }

// What newOwner's text consists of: 26 characters of base32, 130 bits.
const (
	ownerBytes   = 26
	ownerLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
)

// isDetachedOwner reports whether a text has the form of newDetachedOwner's. The checksum of a
// token is no secret: a client can make a token of any text, which stores must not see.
func isDetachedOwner(s string) bool {
	rest, ok := strings.CutPrefix(s, detachedMark)
	return ok && len(rest) == ownerBytes && strings.Trim(rest, ownerLetters) == ""
}

// GrantID identifies an owner's request for a grant, and then the grant. Different owners may use
// the same id. The locker makes a new id for every request. A store answers and counts a request
// once if it is sent twice, because the first reply was lost.
type GrantID string

// Acquisition is one request to a [Store].
type Acquisition struct {
	Tree Tree
	// Owner asks, and will hold.
	Owner Owner
	// Grant is the id of this request, and of the grant that comes of it. The owner never uses it
	// again: after a ForceRelease, a request with the id of a grant that was taken away may get
	// [ErrLost].
	Grant GrantID
	// Gate asks for the tree's gate: the whole tree, exclusively. Claims may be empty then.
	Gate bool
	// Held says that the owner holds something in the tree. If the store has lost that, the owner
	// must learn of it, because a new grant would make it look alive.
	Held bool
	// Claims is a claim set: normalised by [Normalize], of folded paths.
	Claims []Claim
	// Lease is how long the owner's holds in this tree live unless renewed, from the grant or the
	// waiter's last sign of life. It is positive, and more than [Forever] counts as that. All
	// grants of an owner in a tree share one lease, except for those that are Apart. Only a
	// transfer shortens it.
	Lease time.Duration
	// Apart gives the grant a lease of its own. It neither prolongs the lease that the owner's
	// other grants share nor lives by it, but ends no later. When its own lease ends, that grant
	// alone is released and handed over. It needs Held: there has to be a lease to be apart from.
	Apart bool
	// Wait is the longest wait. 0 means no wait, and more than [Forever] counts as that.
	Wait time.Duration
	// Spent is how much of the store's time-out earlier tries of the same call have used: the call
	// ends that much sooner.
	Spent time.Duration
	// asserted is [Request.Asserted], for [Degrade].
	asserted bool
	// Note says what the lock is for, to people who look at the locks.
	Note string
	// Origin says where the request came from, to the same people.
	Origin Origin
	// Waiting, if not nil, is called once when the request has taken its place in the queue and
	// begins to wait. It must not block.
	Waiting func()
}

// Grant is a store's answer to an [Acquisition].
type Grant struct {
	// Fence grows strictly with every grant in a tree, over the tree's whole life.
	Fence uint64
	// Asked is the latest moment, by this process's clock, at which the store is known not to have
	// made the grant yet. That is when the last question that got a place in the queue as its
	// answer was sent, or else when the first question was. The lease lives for at least
	// [Acquisition.Lease] from then on. Zero means the moment at which Acquire was called, for
	// stores that cannot tell.
	Asked time.Time
	// degraded says that [Degrade] has made the grant without a store. There is no fence.
	degraded bool
}

// Lease asks for the renewal of one owner's lease, or of one of its apart grants'.
type Lease struct {
	Owner Owner
	// Grant, if not empty, is the grant whose own lease is to be renewed instead of the owner's:
	// see [Acquisition.Apart].
	Grant GrantID
	// For is how long the lease is to last from now.
	For time.Duration
}

// Transfer asks a [Store] to give everything that one owner holds in a tree to another, or
// to set the end of its lease, or both. Holds that outlive their process rest on it: see
// [Lock.Detach].
type Transfer struct {
	Tree Tree
	// From holds something, and To will. They may be the same. If not, To is a new owner, and no
	// other transfer from From is under way.
	From, To Owner
	// Lease, if positive, is how long the lease lasts from now. It may end earlier than it would
	// have. If Lease is 0, the end stays.
	Lease time.Duration
}

// Transferred is a store's answer to a [Transfer].
type Transferred struct {
	// Grants are all that To holds, in order of their fences.
	Grants []TransferredGrant
	// Left is how long the lease that the grants share lasts, counted from the beginning of the
	// call, as nobody knows when within it the store looked.
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
