package pathlock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/shown"
)

// Limits of a [Request], so that no caller can make the store work without bound.
const (
	// maxNodes is the largest number of nodes in a claim set after [Normalize].
	maxNodes = 4096
	// MaxPathBytes is how many bytes the paths of a claim set may have together. The set has at
	// most 4,096 nodes. Each level of a deep node counts: its ancestors are claimed, too.
	MaxPathBytes = 1 << 20
	// MaxNoteBytes is the longest [Request.Note], in bytes.
	MaxNoteBytes = 512
	// MinLease is the shortest lease. Shorter ones would end before a renewal can arrive.
	MinLease = 10 * time.Millisecond
)

// Forever is the longest wait and the longest lease: longer ones count as this. It is a hundred
// years, for which clocks, and servers that count in microseconds, have room.
const Forever time.Duration = 100 * 365 * 24 * time.Hour

// NoWait as a [Request.Wait] makes an acquisition fail at once if others are in the way.
const NoWait time.Duration = -1

// Request states everything that a piece of work needs in one tree. It is granted whole or not at
// all.
//
// Deadlocks across trees go undetected. If one owner holds in tree A and waits in tree B, and
// another holds in B and waits in A, both wait until one wait ends. Lock trees in the same order
// everywhere. The order of package middleware is: the trees of lockspec.Names first, then all
// others, each by namespace and id.
type Request struct {
	Tree Tree
	// Claims are the nodes and modes, in any order. Intentions on ancestors are implied.
	Claims []Claim
	// Gate asks for the tree's gate: the whole tree, exclusively. Claims add nothing to it.
	Gate bool
	// Wait is the longest wait for others. 0 means the locker's default, and [NoWait] no wait. More
	// than [Forever] counts as that. The context's deadline bounds the wait too.
	Wait time.Duration
	// Lease is how long the hold outlives the last sign of life of this process. 0 means the
	// locker's default. More than [Forever] counts as that. It is renewed while the lock is held.
	Lease time.Duration
	// MaxHold is how long the lock may be held, from its grant on, even if the process lives. Then
	// it is released, and its context ends with a cause that matches [ErrHeldTooLong]. If the
	// context given to Acquire has an earlier deadline, this happens then, and the cause matches at
	// least [context.DeadlineExceeded]. [Forever] means that the deadline alone counts, and 0 that
	// the lock is held until its release, also beyond the deadline.
	//
	// If the store does not answer at that moment, others get in one lease later at the latest.
	// Locks that are acquired under [Lock.Context] without a MaxHold, such as those of a
	// transaction that has to be rolled back, keep what they rely on. A detached hold has no bound.
	MaxHold time.Duration
	// Note says what the lock is for. It is shown to those that collide with the lock.
	Note string
	// Operation is the operation in the request's [Origin], in place of the context's. It does not
	// reach [Lock.Context]: what is done under the lock keeps the context's.
	Operation string
	// OwnScope makes two workers exclude each other in Tree although both work under a lock of
	// another tree, and so in one scope. The request's scope is that of a lock in Tree from which
	// the context descends, or else a new one, which holds in Tree alone. [Lock.Context] carries
	// the context's own scope on, for other trees. A [Mutex] and package election set it.
	OwnScope bool
	// Asserted says that the tree is right even if the lock keeps nobody out, because all that is
	// written under it is asserted in its transaction, as package gormplugin does. Then [Degrade]
	// may grant it without the lock store. The plugin sets it, and so does package middleware if
	// the spec is [Asserted].
	//
	// [Asserted]: https://pkg.go.dev/github.com/pathlock-go/pathlock/lockspec#Spec.Asserted
	Asserted bool
}

// prepared is a checked request, with defaults filled in and claims folded.
type prepared struct {
	Request
	// folded[i] is Claims[i] with its path folded. folded is Claims itself if nothing has to
	// change.
	folded []Claim
	// observed is for observers, nil if there are none.
	observed *observed
	// deadline is the context's, zero if it has none or the request has no MaxHold.
	deadline time.Time
}

// ends returns when a lock that is granted now has been held for too long, zero if never.
func (a *prepared) ends() time.Time {
	if a.MaxHold == 0 {
		return time.Time{}
	}
	switch own := time.Now().Add(a.MaxHold); {
	case !a.deadline.IsZero() && a.deadline.Before(own):
		return a.deadline
	case a.MaxHold == Forever:
		return time.Time{}
	default:
		return own
	}
}

// prepare checks a request and fills in the defaults.
func (l *Locker) prepare(req Request) (prepared, error) {
	req.Wait, req.Lease, req.MaxHold = min(cmp.Or(req.Wait, l.wait), Forever), min(cmp.Or(req.Lease, l.lease), Forever), min(req.MaxHold, Forever)
	if err := checkWait(req.Wait); err != nil {
		return prepared{}, err
	}
	if err := checkLease(req.Lease); err != nil {
		return prepared{}, err
	}
	switch {
	case req.MaxHold < 0:
		return prepared{}, fmt.Errorf("%w: negative hold %v", ErrInvalidRequest, req.MaxHold)
	case req.Tree.IsZero():
		return prepared{}, fmt.Errorf("%w: the request names no tree", ErrInvalidTree)
	case len(req.Claims) == 0 && !req.Gate:
		return prepared{}, fmt.Errorf("%w: neither claims nor the gate", ErrInvalidRequest)
	case len(req.Claims) > maxNodes:
		return prepared{}, fmt.Errorf("%w: %d claims, at most %d nodes are allowed", ErrInvalidRequest, len(req.Claims), maxNodes)
	case len(req.Note) > MaxNoteBytes:
		return prepared{}, fmt.Errorf("%w: the note is %d bytes long, at most %d are allowed", ErrInvalidRequest, len(req.Note), MaxNoteBytes)
	case !utf8.ValidString(req.Note):
		return prepared{}, fmt.Errorf("%w: the note is not valid UTF-8", ErrInvalidRequest)
	}
	folded := req.Claims
	for i, c := range req.Claims {
		if !c.Mode.IsValid() {
			return prepared{}, fmt.Errorf("%w: claim on %q has no mode", ErrInvalidRequest, shown.Cut(c.Path.String()))
		}
		p, err := c.Path.folded(l.fold)
		if err != nil {
			return prepared{}, err
		}
		if p != c.Path {
			if &folded[0] == &req.Claims[0] {
				folded = slices.Clone(req.Claims)
			}
			folded[i].Path = p
		}
	}
	return prepared{Request: req, folded: folded}, nil
}

func checkWait(wait time.Duration) error {
	if wait < 0 && wait != NoWait {
		return fmt.Errorf("%w: negative wait %v", ErrInvalidRequest, wait)
	}
	return nil
}

func checkLease(lease time.Duration) error {
	if lease < MinLease {
		return fmt.Errorf("%w: lease %v, at least %v is needed", ErrInvalidRequest, lease, MinLease)
	}
	return nil
}

// acquisition is what the store gets.
func (a *prepared) acquisition(scope *Scope) (Acquisition, error) {
	set := Normalize(a.folded...)
	if len(set) > maxNodes {
		return Acquisition{}, fmt.Errorf("%w: %d nodes are to be locked, at most %d are allowed", ErrInvalidRequest, len(set), maxNodes)
	}
	size := 0
	for _, c := range set {
		size += len(c.Path.s)
	}
	if size > MaxPathBytes {
		return Acquisition{}, fmt.Errorf("%w: the paths of the %d nodes to be locked have %d bytes, at most %d are allowed: %w",
			ErrInvalidRequest, len(set), size, MaxPathBytes, shown.Inside("claim an ancestor, or the gate (MaxPathBytes)"))
	}
	base, err := scope.baseIn(a.Tree)
	if err != nil {
		return Acquisition{}, err
	}
	return Acquisition{
		Tree: a.Tree, Owner: scope.owner, Grant: scope.newGrantID(), Gate: a.Gate, Claims: set,
		Lease: a.Lease, Apart: base != nil, Wait: max(a.Wait, 0), Note: a.Note,
		asserted: a.Asserted,
	}, nil
}

// event describes the request to observers, of whom there are some.
func (a *prepared) event(scope *Scope) Event {
	return Event{Tree: a.Tree, Owner: scope.owner, Gate: a.Gate, Claims: a.Claims, Note: a.Note, Origin: a.observed.origin}
}

// tell tells observers, if there are any, what has become of the request since start.
func (a *prepared) tell(ctx context.Context, scope *Scope, what string, method func(Observer, context.Context, Event), start time.Time, err error) {
	if a.observed == nil {
		return
	}
	event := a.event(scope)
	event.Elapsed, event.Err = time.Since(start), err
	scope.locker.tell(ctx, what, method, event)
}

// spelling returns a folded path as the caller wrote it, for error messages.
func (a *prepared) spelling(folded Path) Path {
	for i, c := range a.folded {
		if !folded.Contains(c.Path) {
			continue
		}
		p := a.Claims[i].Path
		for p.Depth() > folded.Depth() {
			p = p.Parent()
		}
		return p
	}
	return folded
}
