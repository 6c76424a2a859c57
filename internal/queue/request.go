package queue

import "slices"

// Owner is who asks, with what it has and waits for. It holds something while it has a grant.
type Owner struct {
	Grants, Waits []*Request
}

// Holds reports whether the owner has a grant.
func (o *Owner) Holds() bool { return len(o.Grants) > 0 }

// Request asks for a set of claims. It is in a queue from [Queue.Grant] or [Queue.Wait] on, until
// [Queue.Remove].
type Request struct {
	// Value is the caller's.
	Value any
	Owner *Owner
	// Order is the request's place in the order of arrival.
	Order uint64

	state  state
	claims []claim // that of the gate first
	// watching is a request in the way of this one, nil if it watches none. watchers are those that
	// watch this one.
	watching *Request
	watchers []*Request
	// passes are the waiters that wait for the request's owner, as of the version of the queue
	// before judged.
	passes map[*Request]bool
	judged uint64
}

type state uint8

const (
	outside state = iota
	waiting
	granted
)

// claim is one claim of one request: its element in one list of the claimed node.
type claim struct {
	request    *Request
	node       *node
	prev, next *claim
	mode       Mode
	index      int32
}

// Claim is a claim to ask for.
type Claim struct {
	// Node is named as the root's "", or "/dir1/dir2". It need not be there.
	Node string
	Mode Mode
}

// GateClaim is the index of the claim that every request has on the gate.
const GateClaim = -1

// Waits reports whether the request is in the queue and not granted.
func (r *Request) Waits() bool { return r.state == waiting }

// Granted reports whether the request is granted.
func (r *Request) Granted() bool { return r.state == granted }

// Watching returns the request that a waiting one watches. The waiting one cannot be granted while
// that request is there, unless it is a conversion that may pass. Watching returns nil before the
// request's first turn.
func (r *Request) Watching() *Request { return r.watching }

// Watchers returns the requests that watch this one.
func (r *Request) Watchers() []*Request { return r.watchers }

// Prepare makes r ask for a set of claims, without entering the queue. r may be one that has left
// the queue. Claims on ancestors are the caller's business. The set is not kept.
func (q *Queue) Prepare(r *Request, o *Owner, order uint64, gate bool, set []Claim) {
	*r = Request{Value: r.Value, Owner: o, Order: order, claims: slices.Grow(r.claims[:0], len(set)+1)}
	r.claims = append(r.claims, claim{request: r, node: &q.gate, mode: IX, index: GateClaim})
	if gate {
		r.claims[0].mode = X
	}
	for i, c := range set {
		r.claims = append(r.claims, claim{request: r, node: q.find(c.Node), mode: c.Mode, index: int32(i)})
	}
}

// Drop forgets a request that has been prepared and is not in the queue.
func (q *Queue) Drop(r *Request) {
	for i := range r.claims {
		q.prune(r.claims[i].node)
	}
}

// Conflict is why a request cannot be granted. The zero Conflict is none.
type Conflict struct {
	// By is in the way.
	By *Request
	// Claim and ByClaim are the indexes of the claims that are incompatible, or GateClaim.
	Claim, ByClaim int
}

// Mode returns the mode that the request in the way has or wants at the node of the conflict.
func (c Conflict) Mode() Mode { return c.By.claims[c.ByClaim+1].mode }

func conflict(asked, by *claim) Conflict {
	return Conflict{by.request, int(asked.index), int(by.index)}
}

// Holders yields the grants of other owners that conflict with r, one for each pair of claims, in
// the order of r's claims.
func (r *Request) Holders(yield func(Conflict) bool) {
	for i := range r.claims {
		c := &r.claims[i]
		for l := range c.node.granted.against(c) {
			for by := l.first; by != nil; by = by.next {
				if by.request.Owner != r.Owner && !yield(conflict(c, by)) {
					return
				}
			}
		}
	}
}

// watch makes r wait for another request to go.
func (r *Request) watch(other *Request) {
	r.watching = other
	other.watchers = append(other.watchers, r)
}

// unwatch undoes watch.
func (r *Request) unwatch() {
	if other := r.watching; other != nil {
		i := slices.Index(other.watchers, r)
		other.watchers = slices.Delete(other.watchers, i, i+1)
		r.watching = nil
	}
}
