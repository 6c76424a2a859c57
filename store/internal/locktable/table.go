package locktable

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Table is the lock table of one tree. Only one goroutine at a time may use it. Each use begins
// with [Table.Enter].
type Table struct {
	tree  pathlock.Tree
	mint  func(now time.Time) (fence uint64)
	ended func(*Request)

	nodes   nodes
	owners  map[pathlock.Owner]*owner
	leases  leases // of the owners that hold something, of apart grants, and of mortal waiters
	ticket  uint64 // of the latest request
	fence   uint64 // of the latest grant
	waiters int
	passing
	// spare and spareOwner are kept for the next ones, nil where there is none.
	spare      *Request
	spareOwner *owner
	now        time.Time // when the table was entered
	quota      quota
	mortal     bool // waiters have leases
}

// New returns an empty table. mint makes the fence of a grant, greater than all before it in the
// tree. ended is called when the wait of a request is over: it is granted, or [Request.Err] says
// why not. It is not called where the request's own call gives up.
func New(tree pathlock.Tree, mint func(now time.Time) (fence uint64), ended func(*Request)) *Table {
	return &Table{tree: tree, mint: mint, ended: ended, owners: make(map[pathlock.Owner]*owner)}
}

// Tree returns the table's tree.
func (t *Table) Tree() pathlock.Tree { return t.tree }

// Reset makes an empty table like new, for any tree.
func (t *Table) Reset(tree pathlock.Tree) { t.tree, t.ticket, t.fence = tree, 0, 0 }

// IsEmpty reports whether nobody holds or waits.
func (t *Table) IsEmpty() bool { return len(t.owners) == 0 }

// IsSmall reports whether the table has never been large. A map keeps the memory of its largest
// size.
func (t *Table) IsSmall() bool {
	const fewRequests = 1000
	return t.ticket <= fewRequests
}

// Waiters returns how many requests wait.
func (t *Table) Waiters() int { return t.waiters }

// Enter clears the table of leases that have ended. It comes before anything else that is done to a
// table. What follows happens at the given time.
func (t *Table) Enter(now time.Time) {
	t.now = now
	t.reclaim(now)
}

// newRequest makes a request of an owner's acquisition, without registering it. The owner is nil if
// it neither holds nor waits in the tree.
func (t *Table) newRequest(o *owner, acq *pathlock.Acquisition, now time.Time) *Request {
	if o == nil {
		o = t.newOwner(acq.Owner)
		t.owners[acq.Owner] = o
	}
	t.ticket++
	r := t.spare
	if t.spare = nil; r == nil {
		r = new(Request)
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
func (t *Table) newOwner(id pathlock.Owner) *owner {
	o := t.spareOwner
	if t.spareOwner = nil; o == nil {
		o = new(owner)
	}
	o.id, o.lease.owner = id, o
	return o
}

// reuse keeps a request that has left the table for the next one. It does not keep one that was
// queued, because the calls that wait for it still look at it.
func (t *Table) reuse(r *Request) {
	if !r.waited && cap(r.places) <= maxUnused {
		clear(r.places)
		*r = Request{places: r.places[:0]}
		t.spare = r
	}
}

// tidy forgets the unused records among those of r's nodes and its owner.
func (t *Table) tidy(r *Request) {
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
func (t *Table) decide(r *Request, now time.Time) error {
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
func (t *Table) admit(r *Request, now time.Time) obstacle {
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
func (t *Table) grant(r *Request, now time.Time) {
	if r.queued {
		t.dequeue(r)
	}
	t.fence = t.mint(now)
	t.quota.used++
	r.fence, r.since = t.fence, now
	r.passed = nil
	for i := range r.places {
		p := &r.places[i]
		p.node.granted.append(p)
		p.node.uses++
	}
	if first := !r.owner.holds(); first {
		t.beginConversions(r.owner)
		r.owner.rest(true)
	}
	r.owner.grants.add(r)
	t.begin(r, now)
}

// enqueue makes r a waiter.
func (t *Table) enqueue(r *Request) {
	for i := range r.places {
		p := &r.places[i]
		p.node.waiting.append(p)
		p.node.uses++
	}
	r.owner.waits.add(r)
	r.queued, r.Held = true, r.owner.holds()
	if r.Held {
		t.beginConversion(r)
	}
	r.waited = true
	t.waiters++
	if t.mortal && r.life == nil {
		r.life = &lease{request: r, until: t.now.Add(r.Lease)}
	}
	if r.life != nil {
		t.leases.extend(r.life, r.life.until)
	}
}

// dequeue undoes enqueue.
func (t *Table) dequeue(r *Request) {
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
	if r.life != nil {
		t.leases.remove(r.life)
	}
}

// remove takes r, granted or waiting, out of the table. It returns the requests to decide anew.
func (t *Table) remove(r *Request) (watchers []*Request) {
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
			r.owner.rest(false)
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
func (t *Table) evict(o *owner, reason error) (unwatched []*Request) {
	for r := range o.waits.all {
		unwatched = append(unwatched, t.remove(r)...)
		t.end(r, reason)
	}
	for r := range o.grants.all {
		unwatched = append(unwatched, t.remove(r)...)
	}
	return unwatched
}

// handOver decides, in order of arrival, about waiting requests that watch nothing, and wakes those
// whose wait is over.
func (t *Table) handOver(now time.Time, unwatched []*Request) {
	slices.SortFunc(unwatched, byArrival)
	for {
		var more []*Request
		switch {
		case t.quota.isUsedUp():
			return
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
func (t *Table) decideAgain(r *Request, now time.Time) (unwatched []*Request) {
	if !r.queued || r.watching != nil {
		return nil // it was listed twice, and is decided
	}
	if o := t.admit(r, now); o.by != nil {
		r.watch(o.by.request)
		return nil
	}
	t.end(r, nil)
	return t.advance(r.owner)
}

// end ends the wait of r, which is granted if err is nil.
func (t *Table) end(r *Request, err error) {
	r.err = err
	t.ended(r)
}

func byArrival(a, b *Request) int { return cmp.Compare(a.ticket, b.ticket) }

func byFence(a, b *Request) int { return cmp.Compare(a.fence, b.fence) }
