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
	users  int  // calls that use the table at the moment, guarded by Store.mu
	isIdle bool // it is in Store.idle, guarded by Store.mu

	mu      sync.Mutex
	nodes   nodes
	owners  map[pathlock.Owner]*owner
	leases  leases // of the owners that hold something, and of what they hold apart
	alarm   alarm
	ticket  uint64 // the last one given out
	fence   uint64 // the last one given out
	waiters int
	passing
	// spare and spareOwner are in use no more, for the next ones; nil where there is none.
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

// reset makes a table that nobody uses and nothing is in like new.
func (t *table) reset() { t.ticket, t.fence = 0, 0 }

// isSmall reports that the table cannot have been large since it was new: a map keeps the memory of
// all that it ever had at once.
func (t *table) isSmall() bool {
	const fewRequests = 1000
	return t.ticket <= fewRequests
}

// enter locks the table and clears it of leases that have ended, which comes before
// anything else that is done to a table. It returns the time.
func (t *table) enter() time.Time {
	t.mu.Lock()
	t.now = time.Now()
	t.reclaim(t.now)
	return t.now
}

// leave sets the alarm for those who still wait and unlocks the table.
func (t *table) leave() {
	t.alarm.set(t.waiters > 0, t.leases, t.now)
	t.mu.Unlock()
}

// newRequest makes a request of an owner's acquisition and registers it nowhere yet. An owner that
// takes no part in the tree so far is nil.
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
	// The claims are the caller's, and Waiting is called by nobody else.
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

// newOwner makes an owner that is in the table nowhere yet.
func (t *table) newOwner(id pathlock.Owner) *owner {
	o := t.spareOwner
	if t.spareOwner = nil; o == nil {
		o = new(owner)
	}
	o.id, o.lease.owner = id, o
	return o
}

// reuse keeps a request that is in the table no more for the next one, if nobody else has it: the
// calls that wait for one that was queued look at it when they like.
func (t *table) reuse(r *request) {
	if r.done == nil && cap(r.places) <= maxUnused {
		clear(r.places)
		*r = request{places: r.places[:0]}
		t.spare = r
	}
}

// tidy forgets those records of r's nodes and of its owner that nobody needs any more.
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

// decide grants a new request if nothing is in its way and makes it watch what is, otherwise. One
// that is not to wait gets a [*pathlock.ConflictError] then, and one that would close a cycle of
// waiting owners a [*pathlock.DeadlockError].
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

// admit grants r if nothing is in its way, and returns what is, otherwise.
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

// remove takes r, granted or waiting, out of the table and returns those that have to be looked at.
func (t *table) remove(r *request) (watchers []*request) {
	if r.granted() {
		t.suspectOfRelease(r.owner)
	} else {
		t.suspectOf(r)
	}
	watching := r.watching
	if r.granted() {
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
		t.dequeue(r)
	}
	t.tidy(r)
	watchers = r.leave(watching)
	t.reuse(r)
	return watchers
}

// evict takes away all that o holds, ends its waits with the given reason, and returns the
// requests of others that watched them.
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

// handOver decides, in order of arrival, about waiting requests that watch nothing any
// more, and tells those whose wait is over so.
func (t *table) handOver(now time.Time, unwatched []*request) {
	sortByArrival(unwatched)
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
			sortByArrival(unwatched)
		}
	}
}

// decideAgain grants a waiting request that watches nothing if nothing is in its way, and returns
// those that watch nothing any more because of that.
func (t *table) decideAgain(r *request, now time.Time) (unwatched []*request) {
	if !r.queued || r.watching != nil {
		return nil // it was listed twice, and decided
	}
	if o := t.admit(r, now); o.by != nil {
		r.watch(o.by.request)
		return nil
	}
	close(r.done)
	return t.advance(r.owner)
}

func sortByArrival(requests []*request) {
	slices.SortFunc(requests, func(a, b *request) int { return cmp.Compare(a.ticket, b.ticket) })
}
