package memstore

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// table is the lock table of one tree. Its methods expect mu to be locked, unless they say
// otherwise.
type table struct {
	tree   pathlock.Tree
	fences *fences
	users  int  // calls that use the table, guarded by Store.mu
	isIdle bool // it is in Store.idle, guarded by Store.mu

	mu      sync.Mutex
	nodes   nodes
	owners  map[pathlock.Owner]*owner
	leases  leases // of the owners that hold something, and of apart grants
	alarm   alarm
	ticket  uint64 // of the latest request
	fence   uint64 // of the latest grant
	waiters int
	passing
	// spare and spareOwner are kept for the next ones, nil where there is none.
	spare      *request
	spareOwner *owner
	now        time.Time // when the table was entered
}

func newTable(tree pathlock.Tree, f *fences) *table {
	return &table{
		tree:   tree,
		fences: f,
		owners: make(map[pathlock.Owner]*owner),
	}
}

// reset makes an empty table like new.
func (t *table) reset() { t.ticket, t.fence = 0, 0 }

// isSmall reports whether the table has never been large. A map keeps the memory of its largest
// size.
func (t *table) isSmall() bool {
	const fewRequests = 1000
	return t.ticket <= fewRequests
}

// enter locks the table, and clears it of leases that have ended. It comes before anything else
// that is done to a table. It returns the time.
func (t *table) enter() time.Time {
	t.mu.Lock()
	t.now = time.Now()
	t.reclaim(t.now)
	return t.now
}

// leave sets the alarm for the waiters and unlocks the table.
func (t *table) leave() {
	t.alarm.set(t.waiters > 0, t.leases, t.now)
	t.mu.Unlock()
}

// newRequest makes a request of an owner's acquisition, without registering it. The owner is nil if
// it neither holds nor waits in the tree.
func (t *table) newRequest(o *owner, acq *pathlock.Acquisition, now time.Time) *request {
	if o == nil {
		o = t.newOwner(acq.Owner)
		t.owners[acq.Owner] = o
	}
	t.ticket++
	r := t.spare
	if t.spare = nil; r == nil {
		r = new(request)
	}
	r.Acquisition, r.owner, r.ticket, r.since = *acq, o, t.ticket, now
	// Nobody keeps the caller's claims, or calls Waiting again.
	r.Claims, r.Waiting = nil, nil
	r.places = slices.Grow(r.places, len(acq.Claims)+1)[:len(acq.Claims)+1]
	gate := pathlock.IX(pathlock.Root())
	if acq.Gate {
		gate.Mode = pathlock.ModeX
	}
	r.places[0] = place{Claim: gate, request: r, node: &t.nodes.gate}
	n, at := &t.nodes.root, pathlock.Root()
	for i, c := range acq.Claims {
		for !at.Contains(c.Path) {
			n, at = n.parent, at.Parent()
		}
		n, at = t.nodes.below(n, at, c.Path), c.Path
		p := &r.places[i+1]
		p.Claim, p.request, p.node = c, r, n
	}
	return r
}

// newOwner makes an owner, without registering it.
func (t *table) newOwner(id pathlock.Owner) *owner {
	o := t.spareOwner
	if t.spareOwner = nil; o == nil {
		o = new(owner)
	}
	o.id, o.lease.owner = id, o
	return o
}

// reuse keeps a request that has left the table for the next one. It does not keep one that was
// queued, because the calls that wait for it still look at it.
func (t *table) reuse(r *request) {
	if r.done == nil && cap(r.places) <= maxUnused {
		clear(r.places)
		*r = request{places: r.places[:0]}
		t.spare = r
	}
}

// tidy forgets the unused records among those of r's nodes and its owner.
func (t *table) tidy(r *request) {
	for i := range r.places {
		t.nodes.prune(r.places[i].node)
	}
	if o := r.owner; o.grants.newest == nil && o.waits.newest == nil {
		delete(t.owners, o.id)
		*o = owner{}
		t.spareOwner = o
	}
}

// decide grants a new request if nothing is in its way. Otherwise it makes the request watch what
// is. The error is a [*pathlock.ConflictError] if the request must not wait, and a
// [*pathlock.DeadlockError] if it would close a cycle of waiting owners.
func (t *table) decide(r *request, now time.Time) error {
	o := t.admit(r, now)
	switch {
	case o.by == nil:
		return nil
	case r.Wait <= 0:
		return t.conflictError(r, 0, nil)
	}
	if cycle := t.cycle(r); cycle.by != nil {
		return t.deadlockError(r, cycle)
	}
	r.watch(o.by.request)
	return nil
}

// admit grants r if nothing is in its way. Otherwise it returns what is.
func (t *table) admit(r *request, now time.Time) obstacle {
	if r.isFree() {
		t.forgive(r)
		t.grant(r, now)
		return obstacle{}
	}
	t.judge(r)
	o := t.obstacle(r)
	if o.by == nil {
		t.grant(r, now)
	}
	return o
}

// grant makes r a holder.
func (t *table) grant(r *request, now time.Time) {
	if r.queued {
		t.dequeue(r)
	}
	t.fence = t.fences.next(now)
	r.fence, r.since = t.fence, now
	r.passed = nil
	for i := range r.places {
		p := &r.places[i]
		p.node.granted.append(p)
		p.node.uses++
	}
	if first := !r.owner.holds(); first {
		t.beginConversions(r.owner)
	}
	r.owner.grants.add(r)
	t.begin(r, now)
}

// enqueue makes r a waiter.
func (t *table) enqueue(r *request) {
	for i := range r.places {
		p := &r.places[i]
		p.node.waiting.append(p)
		p.node.uses++
	}
	r.owner.waits.add(r)
	r.queued = true
	if r.owner.holds() {
		t.beginConversion(r)
	}
	r.done = make(chan struct{})
	t.waiters++
}

// dequeue undoes enqueue.
func (t *table) dequeue(r *request) {
	r.unwatch()
	t.endConversion(r)
	for i := range r.places {
		p := &r.places[i]
		p.node.waiting.remove(p)
		p.node.uses--
	}
	r.owner.waits.remove(r)
	r.queued = false
	t.waiters--
}

// remove takes r, granted or waiting, out of the table. It returns the requests to decide anew.
func (t *table) remove(r *request) (watchers []*request) {
	watching := r.watching
	if r.granted() {
		t.suspectOfRelease(r.owner)
		for i := range r.places {
			p := &r.places[i]
			p.node.granted.remove(p)
			p.node.uses--
		}
		r.owner.grants.remove(r)
		t.share(r)
		if !r.owner.holds() {
			t.leases.remove(&r.owner.lease)
			t.endConversions(r.owner)
		}
	} else {
		t.suspectOf(r)
		t.dequeue(r)
	}
	t.tidy(r)
	watchers = r.leave(watching)
	t.reuse(r)
	return watchers
}

// evict takes away everything that o holds, and ends its waits with the given reason. It returns
// the requests of others to decide anew.
func (t *table) evict(o *owner, reason error) (unwatched []*request) {
	for r := range o.waits.all {
		unwatched = append(unwatched, t.remove(r)...)
		r.err = reason
		close(r.done)
	}
	for r := range o.grants.all {
		unwatched = append(unwatched, t.remove(r)...)
	}
	return unwatched
}

// handOver decides, in order of arrival, about waiting requests that watch nothing, and wakes those
// whose wait is over.
func (t *table) handOver(now time.Time, unwatched []*request) {
	slices.SortFunc(unwatched, byArrival)
	for {
		var more []*request
		switch {
		case t.stale || len(t.suspects) > 0:
			more = t.rejudge()
		case len(unwatched) == 0:
			return
		default:
			more = t.decideAgain(unwatched[0], now)
			unwatched = unwatched[1:]
		}
		if len(more) > 0 {
			unwatched = append(unwatched, more...)
			slices.SortFunc(unwatched, byArrival)
		}
	}
}

// decideAgain grants a waiting request that watches nothing if nothing is in its way. It returns
// the requests that stop watching because of that.
func (t *table) decideAgain(r *request, now time.Time) (unwatched []*request) {
	if !r.queued || r.watching != nil {
		return nil // it was listed twice, and is decided
	}
	if o := t.admit(r, now); o.by != nil {
		r.watch(o.by.request)
		return nil
	}
	close(r.done)
	return t.advance(r.owner)
}

func byArrival(a, b *request) int { return cmp.Compare(a.ticket, b.ticket) }
