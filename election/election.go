// Package election elects one leader among any number of processes, on any lock store of pathlock:
// for a cron job that must run on one instance only, or for the one process that may write.
//
//	e := election.New(locker, "nightly-report")
//	leadership, err := e.Campaign(ctx, "10.0.0.7:8080") // waits until it leads
//	defer leadership.Resign(ctx)
//	work(leadership.Context(), leadership.Term())
//
// Candidates lead in order of arrival. A leader leads until it resigns or until its lease ends. The
// lease is renewed in the background. If its process crashes or hangs, the next candidate leads
// within one lease of its last sign of life.
//
// # What is guaranteed
//
// The lock store names one leader at a time, and terms grow with every leader. If a leader was
// stopped past its lease, its context says so before it acts, if it looks: see
// [Leadership.Context]. It may be stopped again between that look and its next action, and no lock
// can prevent that. So if a late action would do harm, pass the term along: the written row stores
// the term of its latest writer, and refuses smaller ones.
//
// # How it works
//
// An election is a tree in the namespace "election". The leader has two nodes of it exclusively:
// the seat, for which all candidates queue, and a node of its own with a random name. Observers
// wait for the latter with a shared lock, which the store grants when the leader has gone, and
// which blocks no candidate. So the store wakes observers, and even observers that hang neither
// delay an election nor take part in one. A leader that proclaims another value acquires the seat
// and a new node with it, and then gives up its old grant. The node's name begins with the term.
//
// While nobody leads, observers have nothing to wait for, and look at the store from time to time:
// see [Election.Observe]. This is rare, since a waiting candidate leads as soon as the leader has
// gone.
package election

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/shown"
)

// namespace is the namespace of the trees in which elections are held.
const namespace = "election"

// maxValueBytes is the longest value of a candidate, in bytes.
const maxValueBytes = pathlock.MaxNoteBytes

// The operations of an election's requests, in their [pathlock.Origin]. Healthy candidates and
// observers wait for as long as a term lasts. The operation lets metrics and alerts distinguish
// them from requests that are held up.
const (
	operationCampaign = "campaign"
	operationObserve  = "observe"
)

// Election is a named office that one candidate at a time holds. The election "nightly" is the tree
// ("election", "nightly"), for [pathlock.Locker.Snapshot] and [pathlock.Locker.ForceRelease]. It
// consists only of the name and the lock store: any number of goroutines may use it, and elections
// with the same name on one store are the same election.
type Election struct {
	// Lease is how long a leader outlives the last sign of life of its process. 0 means the
	// locker's default. Set it before the first use.
	Lease time.Duration
	// MaxHold bounds a term, even if the leader hangs in a living process: see
	// [pathlock.Request.MaxHold]. 0 means that only a deadline of the context given to Campaign
	// bounds it. Set it before the first use.
	MaxHold time.Duration

	locker *pathlock.Locker
	name   string
}

// New returns the election of a name, without asking the store. The name is any text that can be
// the id of a tree: see [pathlock.NewTree]. Programs that share a store share its names. Methods of
// an election with an impossible name return an error that matches [pathlock.ErrInvalidTree].
func New(locker *pathlock.Locker, name string) *Election {
	return &Election{locker: locker, name: name}
}

// Name returns the name of the election.
func (e *Election) Name() string { return e.name }

// Campaign waits until the candidate leads, or ctx ends. The caller must resign, even after the
// leadership has been lost.
//
// The value says who leads, such as a name or an address, to all that observe the election. It is
// valid UTF-8 of at most 512 bytes, and no secret: everybody who can read the lock store sees
// it, as the hold's note in a [pathlock.Snapshot], in errors and in logs.
//
// The leadership's context descends from ctx, so a deadline of ctx also ends the leadership. To
// bound only the wait, cancel ctx by a timer that you stop on success.
//
// Under the context of a leadership of the same election, Campaign returns the same term at once,
// with the value that it has. The candidate leads until both leaderships have resigned.
//
// Errors are those of [pathlock.Locker.Acquire], and match [pathlock.ErrInvalidRequest] for an
// impossible value. After an error, the candidate no longer campaigns.
func (e *Election) Campaign(ctx context.Context, value string) (*Leadership, error) {
	if err := checkValue(value); err != nil {
		return nil, err
	}
	key := leadershipKey{e.locker, e.name}
	own, again := ctx.Value(key).(*candidacy)
	if again && own.led.Err() == nil {
		lock, err := e.acquire(ctx, own.value(), pathlock.NoWait, pathlock.X(seat))
		if err != nil {
			return nil, err
		}
		if lock.Fence() == own.term {
			return &Leadership{lock: lock, ctx: lock.Context(), own: own}, nil
		}
		lock.ReleaseInBackground(ctx) // the term has ended meanwhile
	}
	lock, err := e.acquire(ctx, value, pathlock.Forever, pathlock.X(seat), pathlock.X(newNode("")))
	if err != nil {
		return nil, err
	}
	own = &candidacy{term: lock.Fence(), led: lock.Context()}
	own.latest.Store(&value)
	return &Leadership{lock: lock, ctx: context.WithValue(lock.Context(), key, own), own: own}, nil
}

// acquire acquires nodes of the election's tree.
func (e *Election) acquire(ctx context.Context, value string, wait time.Duration, claims ...pathlock.Claim) (*pathlock.Lock, error) {
	tree, err := e.tree()
	if err != nil {
		return nil, err
	}
	// Whatever else the caller holds, it is a candidate like any other.
	return e.locker.Acquire(ctx, pathlock.Request{
		Tree: tree, Claims: claims, Wait: wait, Lease: e.Lease, MaxHold: cmp.Or(e.MaxHold, pathlock.Forever), Note: value,
		// The work under the leadership is no campaign, and keeps the operation of ctx.
		Operation: operationCampaign,
		OwnScope:  true,
	})
}

// checkValue refuses values that a leader cannot have.
func checkValue(value string) error {
	if len(value) > maxValueBytes || !utf8.ValidString(value) {
		return fmt.Errorf("%w: the value %q is not valid UTF-8 of at most %d bytes", pathlock.ErrInvalidRequest, shown.Cut(value), maxValueBytes)
	}
	return nil
}

// seat is the node that all candidates want.
var seat = pathlock.MustParsePath("/seat")

// newNode returns a leader's own node, with a random name that is folded.
func newNode(prefix string) pathlock.Path {
	return pathlock.MustParsePath("/" + prefix + strings.ToLower(rand.Text()))
}

// candidacy is a term, as all leaderships in it share it.
type candidacy struct {
	term uint64
	led  context.Context // ends with the first leadership

	proclaiming sync.Mutex
	latest      atomic.Pointer[string]
}

// value returns the value that the leader campaigned with, or has proclaimed since.
func (c *candidacy) value() string { return *c.latest.Load() }

// leadershipKey is the context key of a leader's candidacy.
type leadershipKey struct {
	locker *pathlock.Locker
	name   string
}

// tree returns the tree in which the election is held.
func (e *Election) tree() (pathlock.Tree, error) {
	tree, err := pathlock.NewTree(namespace, e.name)
	if err != nil {
		return pathlock.Tree{}, fmt.Errorf("election %q: %w", shown.Cut(e.name), err)
	}
	return tree, nil
}

// Leadership is a won election, from [Election.Campaign] until [Leadership.Resign]. It is safe for
// concurrent use.
type Leadership struct {
	lock *pathlock.Lock
	ctx  context.Context
	own  *candidacy
}

// Context returns the context to lead under. It ends with the context given to Campaign, and when
// the leader resigns. When the leadership is lost, it ends with a cause that matches
// [pathlock.ErrLost], by the clock no later than the lease, so before the next leader begins,
// whether the store answers or not.
//
// After the process or its host was stopped, Err is right at once, and Done closes within a second.
// So besides waiting for Done, check Err before each step that only a leader may take. Contexts
// that descend from it end with Done.
//
// Under it, [Election.Campaign] of the same election returns the same term. Other locks that are
// acquired under it have the same owner as under the context given to Campaign.
func (l *Leadership) Context() context.Context { return l.ctx }

// Term returns the fence of the leader's lock, a number that grows strictly with every leader of
// the election. So a late write of an earlier leader carries a smaller one.
func (l *Leadership) Term() uint64 { return l.lock.Fence() }

// Value returns the value that the leader campaigned with, or has proclaimed since.
func (l *Leadership) Value() string { return l.own.value() }

// Proclaim changes the value in the same term, without an election. Observers are woken and see it
// with the next look. Values are as in [Election.Campaign].
//
// Errors are those of [pathlock.Locker.Acquire], and match [pathlock.ErrNotHeld] after the
// resignation. After any error but [pathlock.ErrLost] and ErrNotHeld, the leader goes on leading
// with its old value.
func (l *Leadership) Proclaim(ctx context.Context, value string) error {
	if err := checkValue(value); err != nil {
		return err
	}
	l.own.proclaiming.Lock()
	defer l.own.proclaiming.Unlock()
	claims := []pathlock.Claim{pathlock.X(seat), pathlock.X(newNode(fmt.Sprintf("%d-", l.Term())))}
	if err := l.lock.Exchange(ctx, claims, value); err != nil {
		return err
	}
	l.own.latest.Store(&value)
	return nil
}

// Until returns the end of the leadership's lease, as far as it is known here. It moves with every
// renewal: see [pathlock.Lock.Until].
func (l *Leadership) Until() time.Time { return l.lock.Until() }

// Resign ends the leadership, and lets the next candidate lead at once. It does its work even under
// a context that has ended. Errors are those of [pathlock.Lock.Release]: the error matches
// [pathlock.ErrLost] if the leadership was lost before, and [pathlock.ErrNotHeld] if it was
// resigned before. If the store does not answer, the locker retries in the background, and the
// lease ends the leadership at the latest.
func (l *Leadership) Resign(ctx context.Context) error { return l.lock.Release(ctx) }
