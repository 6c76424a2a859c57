package memstore

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// table is the lock table of one tree. Its methods expect mu to be locked, unless they say otherwise.
type table struct {
	tree   pathlock.Tree
	fences *fences
	users  int // calls that use the table now, guarded by Store.mu

	mu      sync.Mutex
	nodes   map[key]*node
	owners  map[pathlock.Owner]*owner
	leases  leases // of the owners that hold something
	alarm   alarm
	ticket  uint64 // the last one given out
	fence   uint64 // the last one given out
	waiters int
}

func newTable(tree pathlock.Tree, f *fences) *table {
	return &table{
		tree:   tree,
		fences: f,
		nodes:  make(map[key]*node),
		owners: make(map[pathlock.Owner]*owner),
	}
}

// enter locks the table and clears it of leases that have ended, which comes before
// anything else that is done to a table. It returns the time.
func (t *table) enter() time.Time {
	t.mu.Lock()
	now := time.Now()
	t.reclaim(now)
	return now
}

// leave sets the alarm for those who still wait and unlocks the table.
func (t *table) leave() {
	t.alarm.set(t.waiters > 0, t.leases)
	t.mu.Unlock()
}

// newRequest makes a request of an acquisition and registers it nowhere yet.
func (t *table) newRequest(acq pathlock.Acquisition, now time.Time) *request {
	t.ticket++
	acq.Claims = slices.Clone(acq.Claims)
	r := &request{
		Acquisition: acq,
		owner:       t.owners[acq.Owner],
		places:      make([]place, 0, len(acq.Claims)+1),
		ticket:      t.ticket,
		since:       now,
	}
	if r.owner == nil {
		r.owner = &owner{
			id:     acq.Owner,
			grants: make(map[pathlock.GrantID]*request),
			waits:  make(map[pathlock.GrantID]*request),
		}
		t.owners[acq.Owner] = r.owner
	}
	mode := pathlock.ModeIX
	if acq.Gate {
		mode = pathlock.ModeX
	}
	r.places = append(r.places, place{request: r, node: t.node(key{gate: true}), mode: mode})
	for _, c := range acq.Claims {
		r.places = append(r.places, place{request: r, node: t.node(key{path: c.Path}), mode: c.Mode})
	}
	return r
}

// node returns the record of a node, a new one if there is none.
func (t *table) node(k key) *node {
	n := t.nodes[k]
	if n == nil {
		n = &node{key: k}
		t.nodes[k] = n
	}
	return n
}

// tidy forgets those records of r's nodes and of its owner that nobody needs any more.
func (t *table) tidy(r *request) {
	for i := range r.places {
		if n := r.places[i].node; n.places == 0 {
			delete(t.nodes, n.key)
		}
	}
	if o := r.owner; len(o.grants) == 0 && len(o.waits) == 0 {
		delete(t.owners, o.id)
	}
}

// decide grants r if nothing is in its way and makes it watch what is, otherwise. A request that
// is not to wait gets a [*pathlock.ConflictError] then, and one that would close a cycle of
// waiting owners a [*pathlock.DeadlockError].
func (t *table) decide(r *request, now time.Time) error {
	o := r.obstacle()
	if o.by == nil {
		t.grant(r, now)
		return nil
	}
	if r.Wait <= 0 {
		return t.conflictError(r, 0, nil)
	}
	if cycle := t.cycle(r); cycle.by != nil {
		return t.deadlockError(r, cycle)
	}
	r.watch(o.by.request)
	return nil
}

// grant makes r a holder.
func (t *table) grant(r *request, now time.Time) {
	if r.queued() {
		t.dequeue(r)
	}
	t.fence = t.fences.next(now)
	r.fence, r.since = t.fence, now
	for i := range r.places {
		p := &r.places[i]
		p.node.granted[p.mode].append(p)
		p.node.places++
	}
	r.owner.grants[r.Grant] = r
	t.leases.extend(r.owner, now.Add(r.Lease))
}

// enqueue makes r a waiter.
func (t *table) enqueue(r *request) {
	for i := range r.places {
		p := &r.places[i]
		p.node.waiting[p.mode].append(p)
		p.node.places++
	}
	r.owner.waits[r.Grant] = r
	r.done = make(chan struct{})
	t.waiters++
}

// dequeue undoes enqueue.
func (t *table) dequeue(r *request) {
	r.unwatch()
	for i := range r.places {
		p := &r.places[i]
		p.node.waiting[p.mode].remove(p)
		p.node.places--
	}
	delete(r.owner.waits, r.Grant)
	t.waiters--
}

// remove takes r, granted or waiting, out of the table and returns those that watched it.
func (t *table) remove(r *request) (watchers []*request) {
	if r.granted() {
		for i := range r.places {
			p := &r.places[i]
			p.node.granted[p.mode].remove(p)
			p.node.places--
		}
		delete(r.owner.grants, r.Grant)
		if !r.owner.holds() {
			t.leases.remove(r.owner)
		}
	} else {
		t.dequeue(r)
	}
	t.tidy(r)
	for w := range r.watchers {
		w.watching = nil
		watchers = append(watchers, w)
	}
	r.watchers = nil
	return watchers
}

// evict takes away all that o holds, ends its waits with the given reason, and returns the
// requests of others that watched them.
func (t *table) evict(o *owner, reason error) (unwatched []*request) {
	for _, r := range o.waits {
		unwatched = append(unwatched, t.remove(r)...)
		r.err = reason
		close(r.done)
	}
	for _, r := range o.grants {
		unwatched = append(unwatched, t.remove(r)...)
	}
	return unwatched
}

// handOver decides, in order of arrival, about waiting requests that watch nothing any
// more, and tells those whose wait is over so.
func (t *table) handOver(now time.Time, unwatched []*request) {
	sortByArrival(unwatched)
	for len(unwatched) > 0 {
		r := unwatched[0]
		unwatched = unwatched[1:]
		if !r.queued() || r.watching != nil {
			continue // it was listed twice, and decided
		}
		var more []*request
		switch r.err = t.decide(r, now); {
		case r.err != nil:
			more = t.remove(r)
		case r.granted():
			more = r.owner.advance()
		default:
			continue
		}
		close(r.done)
		if len(more) > 0 {
			unwatched = append(unwatched, more...)
			sortByArrival(unwatched)
		}
	}
}

func sortByArrival(requests []*request) {
	slices.SortFunc(requests, func(a, b *request) int { return cmp.Compare(a.ticket, b.ticket) })
}
