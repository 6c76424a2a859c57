package pathlock

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock/internal/queue"
)

// Snapshot is what a tree's lock table held at one instant.
type Snapshot struct {
	Tree Tree `json:"tree"`
	// Now is that instant by the store's clock, as are all times of the entries. Compare them with
	// Now, not with the time of this process.
	Now time.Time `json:"now"`
	// Fence is the fence of the latest grant, 0 if none is on record.
	Fence uint64 `json:"fence"`
	// Holders has one entry per grant, in order of their fences.
	Holders []Entry `json:"holders"`
	// Waiters has one entry per queued request, in order of arrival.
	Waiters []Entry `json:"waiters"`
}

// Entry is one grant, or one queued request, in a [Snapshot].
type Entry struct {
	Owner Owner `json:"owner"`
	// Gate says that the tree's gate is held or waited for.
	Gate bool `json:"gate"`
	// Detached says that the hold lives without a process: see [Owner.Detached].
	Detached bool `json:"detached"`
	// Claims is the normalised claim set, in folded paths.
	Claims []Claim `json:"claims"`
	Note   string  `json:"note"`
	// Origin is where the request came from.
	Origin Origin `json:"origin,omitzero"`
	// Fence is the grant's; 0 while the request waits.
	Fence uint64 `json:"fence"`
	// Since is when the grant was made or the wait began. Until is when the grant's lease or the
	// wait ends, by the clock of [Snapshot.Now]. An apart grant ends with the owner's lease if that
	// ends first.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// Blocking is somebody whom a request waits for, in a [Snapshot].
type Blocking struct {
	// Entry is the holder, or the waiter that came earlier. It points into the snapshot.
	Entry *Entry
	// Waiting says that it waits.
	Waiting bool
	// Path and Mode are where the two conflict: the topmost such node, and what the blocker has or
	// wants there. If one of the two asks for the gate, Path is the root, and Mode is the blocker's
	// there, or [ModeX] if it has the gate.
	Path Path
	Mode Mode
}

// Blockers returns for each waiter of the snapshot whom it waits for: the holders that it conflicts
// with, and then the earlier waiters that it conflicts with and may not pass. They are the edges of
// the wait-for graph, by the rules of [Store.Acquire].
func (s Snapshot) Blockers() [][]Blocking {
	q := newSnapshotQueue(s)
	blockers := make([][]Blocking, len(s.Waiters))
	for i, w := range q.requests[len(s.Holders):] {
		blockers[i] = q.blockers(w)
	}
	return blockers
}

// InTheWay returns whom a request would wait for if it came now: see [Snapshot.Blockers]. The owner
// may be "" for one that holds nothing. Claims need not be normalised, but their paths have to be
// folded: see [Locker.Folded].
func (s Snapshot) InTheWay(owner Owner, gate bool, claims []Claim) []Blocking {
	request := Entry{Owner: owner, Gate: gate, Claims: Normalize(claims...)}
	s.Waiters = append(slices.Clip(s.Waiters), request)
	q := newSnapshotQueue(s)
	return q.blockers(q.requests[len(q.requests)-1])
}

// snapshotQueue is the queue that a snapshot shows.
type snapshotQueue struct {
	queue.Queue
	// requests are the holders as the snapshot orders them, and then the waiters. The value of each
	// is its entry.
	requests []*queue.Request
}

func newSnapshotQueue(s Snapshot) *snapshotQueue {
	q := new(snapshotQueue)
	owners := make(map[Owner]*queue.Owner)
	add := func(entries []Entry) {
		for i := range entries {
			e := &entries[i]
			if owners[e.Owner] == nil {
				owners[e.Owner] = new(queue.Owner)
			}
			r := &queue.Request{Value: e}
			set := make([]queue.Claim, len(e.Claims))
			for i, c := range e.Claims {
				set[i] = queue.Claim{Node: c.Path.s, Mode: queue.Mode(c.Mode)}
			}
			q.Prepare(r, owners[e.Owner], uint64(len(q.requests)), e.Gate, set)
			q.requests = append(q.requests, r)
		}
	}
	add(s.Holders)
	for _, r := range q.requests {
		q.Grant(r)
	}
	add(s.Waiters)
	for _, r := range q.requests[len(s.Holders):] {
		q.Wait(r, nil)
	}
	return q
}

// blockers returns whom a waiter waits for, in the order of the snapshot.
func (q *snapshotQueue) blockers(w *queue.Request) []Blocking {
	conflicts := q.InTheWay(w)
	slices.SortFunc(conflicts, func(a, b queue.Conflict) int { return cmp.Compare(a.By.Order, b.By.Order) })
	var found []Blocking
	asked := w.Value.(*Entry)
	for _, c := range conflicts {
		b := Blocking{Entry: c.By.Value.(*Entry), Waiting: c.By.Waits(), Mode: Mode(c.Mode())}
		switch {
		case c.Claim != queue.GateClaim:
			b.Path = asked.Claims[c.Claim].Path
		case !b.Entry.Gate && len(b.Entry.Claims) > 0:
			b.Mode = b.Entry.Claims[0].Mode // the root is the first node of every set
		}
		found = append(found, b)
	}
	return found
}
