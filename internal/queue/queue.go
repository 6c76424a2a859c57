// Package queue is the rule by which requests for locks in one tree wait and are granted. It knows
// owners, nodes, modes and an order of arrival, but no clocks, leases or stores. Package storetest
// has the same rule in the plainest form, as the oracle of the stores' tests, and package
// proof/smallworld as predicates over states, of which it explores millions.
//
// # The rule
//
// Two requests of different owners conflict if their modes are incompatible on some node. The gate
// is a node above the root: every request claims it in mode IX, and one for the gate in mode X.
//
// A request is granted as soon as it conflicts with no granted request and is behind no waiting
// one. It is behind every earlier waiter that it conflicts with, except those that it may pass: a
// request of an owner that holds something may pass a waiter that waits for that owner. A request
// waits for the owners of the grants that it conflicts with, and for those whom these owners wait
// for. If it is behind a waiter, it waits for everybody whom that waiter waits for.
//
// A request is a deadlock if a holder in its way waits for the request's own owner: see
// [Queue.Deadlock]. Since it is refused, the graph of waits has no cycle, and no waiter has to look
// for one.
//
// Whether a request is behind a waiter can depend on whether another one is, and the other way
// round. The earlier of the two is judged first, as if the other were behind nobody.
//
// # The nodes
//
// A [Queue] has a record of each node on which somebody holds or waits, with two lists for each
// mode, in order of arrival. A request without any conflict on its own nodes is granted after one
// look at each of them, no matter who waits elsewhere. Claims include the intentions on the nodes
// above, so no record needs to know those.
//
//	gate         granted IX: r1 r2 r3     waiting IX: r4
//	/            granted IX: r1 r2 r3     waiting IX: r4
//	/dir1        granted IX: r1 r2        waiting X:  r4
//	/dir1/new    granted X:  r1
//	/dir1/old    granted X:  r2
//	/dir2        granted X:  r3
//
// # Waiting
//
// A request that has to wait watches one request in its way, preferably the waiter just before it,
// as the lock recipes of ZooKeeper do. It is looked at again when that one has gone. So a release
// costs as much as it lets in.
//
// Only a conversion, the waiting request of an owner that holds something, can become free while
// the request that it watches stays: when that request begins to wait for the conversion's owner.
// Conversions are rare. After each change, those that watch a waiter are judged anew.
package queue

import (
	"cmp"
	"slices"
)

// Queue is the granted and the waiting requests of one tree. Only one goroutine at a time may use
// it. The zero Queue is empty.
type Queue struct {
	// Granted is called with a waiting request that [Queue.Settle] has granted, and Refused with
	// one that has left the queue because it had become a deadlock.
	Granted func(*Request)
	Refused func(*Request, Conflict)
	// Full, if not nil, reports whether [Queue.Settle] may grant no further request.
	Full func() bool

	nodes
	waiters int
	// version counts the changes after which a waiter may wait for other owners than before, and
	// freed is the version at which no conversion watched a waiter that it may pass. A request that
	// begins to wait makes no such change: where it would free a conversion it is a deadlock. Nor
	// does a grant or a release of an owner that does not wait: nobody waits for others through it.
	version, freed uint64
}

// Waiters returns how many requests wait.
func (q *Queue) Waiters() int { return q.waiters }

// Grant makes r a holder, whether or not anything is in the way.
func (q *Queue) Grant(r *Request) {
	if r.state == waiting {
		q.leave(r)
	}
	r.state = granted
	for i := range r.claims {
		c := &r.claims[i]
		c.node.granted.add(c)
		c.node.uses++
	}
	r.Owner.Grants = append(r.Owner.Grants, r)
	q.regranted(r.Owner)
}

// Wait makes r the last of those who wait. It watches another request, or nothing if that is nil:
// then [Queue.Settle] has to be told of it.
func (q *Queue) Wait(r, watching *Request) {
	r.state = waiting
	for i := range r.claims {
		c := &r.claims[i]
		c.node.waiting.add(c)
		c.node.uses++
	}
	r.Owner.Waits = append(r.Owner.Waits, r)
	q.waiters++
	if watching != nil {
		r.watch(watching)
	}
}

// leave undoes Wait.
func (q *Queue) leave(r *Request) {
	r.unwatch()
	r.state, r.passes = outside, nil
	for i := range r.claims {
		c := &r.claims[i]
		c.node.waiting.remove(c)
		c.node.uses--
	}
	r.Owner.Waits = without(r.Owner.Waits, r)
	q.waiters--
}

// Remove takes r out of the queue. [Queue.Settle] has to be told of those that it returns.
func (q *Queue) Remove(r *Request) (unwatched []*Request) {
	if r.state == waiting {
		q.leave(r)
		q.version++
	} else {
		r.state = outside
		for i := range r.claims {
			c := &r.claims[i]
			c.node.granted.remove(c)
			c.node.uses--
		}
		r.Owner.Grants = without(r.Owner.Grants, r)
		q.regranted(r.Owner)
	}
	q.Drop(r)
	unwatched, r.watchers = r.watchers, nil
	for _, w := range unwatched {
		w.watching = nil
	}
	return unwatched
}

// without takes one of an owner's requests out. Mostly it is the latest.
func without(list []*Request, r *Request) []*Request {
	i := len(list) - 1
	for list[i] != r {
		i--
	}
	return slices.Delete(list, i, i+1)
}

// Move gives what one owner has to a new one. Its waiting requests stay its own. [Queue.Settle]
// follows.
func (q *Queue) Move(from, to *Owner) {
	from.Grants, to.Grants = nil, from.Grants
	for _, r := range to.Grants {
		r.Owner = to
	}
	q.regranted(from)
	q.regranted(to)
}

// regranted notes that an owner has other grants than before.
func (q *Queue) regranted(o *Owner) {
	if len(o.Waits) > 0 {
		q.version++
	}
}

// Settle decides, in order of arrival, about waiting requests that watch nothing, and about the
// conversions that may now pass what they watch.
func (q *Queue) Settle(unwatched []*Request) {
	more := unwatched
	unwatched = nil
	for len(unwatched)+len(more) > 0 || q.freed != q.version {
		if q.Full != nil && q.Full() {
			return
		}
		if more = append(more, q.passing()...); len(more) > 0 {
			unwatched = append(unwatched, more...)
			slices.SortFunc(unwatched, byOrder)
		}
		if len(unwatched) == 0 {
			return
		}
		r := unwatched[0]
		unwatched, more = unwatched[1:], nil
		if r.state == waiting && r.watching == nil { // else it was listed twice, and is decided
			more = q.decide(r)
		}
	}
}

// decide grants a waiting request that watches nothing if nothing is in its way. It returns the
// requests that stop watching because of that.
func (q *Queue) decide(r *Request) (unwatched []*Request) {
	if c := q.Obstacle(r); c.By != nil {
		r.watch(c.By)
		return nil
	}
	q.Grant(r)
	q.Granted(r)
	return q.Advance(r.Owner)
}

// Advance ends the watches of the waiting requests of an owner that has been granted something, and
// returns them for [Queue.Settle]: what they watched may now wait for the owner. Those that have
// become deadlocks leave the queue.
func (q *Queue) Advance(o *Owner) (unwatched []*Request) {
	if len(o.Waits) == 0 {
		return nil
	}
	for _, r := range slices.SortedFunc(slices.Values(o.Waits), byOrder) {
		if c := q.Deadlock(r); c.By != nil {
			unwatched = append(unwatched, q.Remove(r)...)
			q.Refused(r, c)
			continue
		}
		r.unwatch()
		unwatched = append(unwatched, r)
	}
	return unwatched
}

// passing ends the watches of the conversions that may now pass what they watch, and returns these
// conversions.
func (q *Queue) passing() (unwatched []*Request) {
	if q.freed == q.version {
		return nil
	}
	q.freed = q.version
	for _, l := range q.gate.waiting.lists { // every request claims the gate
		for c := l.first; c != nil; c = c.next {
			if r := c.request; q.mayPass(r, r.watching) {
				r.unwatch()
				unwatched = append(unwatched, r)
			}
		}
	}
	return unwatched
}

func byOrder(a, b *Request) int { return cmp.Compare(a.Order, b.Order) }
