package smallworld

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/queue"
	"github.com/pathlock-go/pathlock/proof/modes"
)

// table is the real queue, put into any state. It reuses its memory.
type table struct {
	queue   queue.Queue
	owners  [manyOwners]queue.Owner
	all     []*queue.Request // in it
	spare   []*queue.Request
	order   uint64
	refused []*queue.Request
	wrong   error // of a refusal
}

// claimed has the claims of each ask as a queue gets them.
var claimed = func() (all [][]queue.Claim) {
	for _, a := range asks {
		var claims []queue.Claim
		for _, c := range pathlock.Normalize(a.claims...) {
			claims = append(claims, queue.Claim{Node: c.Path.Column(), Mode: queue.Mode(c.Mode)})
		}
		all = append(all, claims)
	}
	return all
}()

func newTable() *table {
	t := new(table)
	t.queue.Granted = func(*queue.Request) {}
	t.queue.Refused = func(r *queue.Request, c queue.Conflict) {
		t.refused = append(t.refused, r)
		t.check(r, c)
	}
	return t
}

// check notes a deadlock whose conflict is not one with a holder.
func (t *table) check(r *queue.Request, c queue.Conflict) {
	if !isConflict(r, c) || !c.By.Granted() {
		t.wrong = fmt.Errorf("a deadlock because of %+v", c)
	}
}

// isConflict says whether two requests exclude each other by the claims that a conflict names.
func isConflict(r *queue.Request, c queue.Conflict) bool {
	claim := func(r *queue.Request, i int) queue.Claim {
		ask := r.Value.(uint8)
		switch {
		case i != queue.GateClaim:
			return claimed[ask][i]
		case asks[ask].gate:
			return queue.Claim{Node: "the gate", Mode: queue.X}
		default:
			return queue.Claim{Node: "the gate", Mode: queue.IX}
		}
	}
	asked, by := claim(r, c.Claim), claim(c.By, c.ByClaim)
	return r.Owner != c.By.Owner && asked.Node == by.Node && by.Mode == c.Mode() && !modes.Meet(pathlock.Mode(asked.Mode), pathlock.Mode(by.Mode))
}

func (t *table) ask(o, a uint8) *queue.Request {
	if len(t.spare) == 0 {
		t.spare = append(t.spare, new(queue.Request))
	}
	last := len(t.spare) - 1
	r := t.spare[last]
	t.spare = t.spare[:last]
	t.order++
	r.Value = a
	t.queue.Prepare(r, &t.owners[o], t.order, asks[a].gate, claimed[a])
	return r
}

// put makes a state of the queue. It lets the waiters look at who is in their way, so that the
// queue remembers what it then has to forget.
func (t *table) put(s state) {
	for _, r := range t.all {
		t.queue.Remove(r)
		t.spare = append(t.spare, r)
	}
	t.all = t.all[:0]
	for _, r := range s {
		q := t.ask(r.owner, r.ask)
		t.all = append(t.all, q)
		if r.granted {
			t.queue.Grant(q)
		} else {
			t.queue.Wait(q, t.all[r.watches])
		}
	}
	t.queue.Settle(nil)
	for i, r := range s {
		if !r.granted {
			t.queue.InTheWay(t.all[i])
		}
	}
}

// do carries out a command, as store/internal/locktable does.
func (t *table) do(c command) (refused bool) {
	t.refused = t.refused[:0]
	switch c.what {
	case take:
		r := t.ask(c.owner, c.ask)
		obstacle := t.queue.Obstacle(r)
		if obstacle.By == nil {
			t.all = append(t.all, r)
			t.queue.Grant(r)
			t.queue.Settle(t.queue.Advance(r.Owner))
			break
		}
		if d := t.queue.Deadlock(r); d.By != nil {
			t.check(r, d)
			t.queue.Drop(r)
			t.spare = append(t.spare, r)
			return true
		}
		t.all = append(t.all, r)
		t.queue.Wait(r, obstacle.By)
	case end:
		t.queue.Settle(t.remove(t.all[c.ask]))
	case evict:
		o := &t.owners[c.owner]
		var unwatched []*queue.Request
		for _, list := range [][]*queue.Request{o.Waits, o.Grants} {
			for _, r := range slices.Backward(slices.Clone(list)) {
				unwatched = append(unwatched, t.remove(r)...)
			}
		}
		t.queue.Settle(unwatched)
	case move:
		t.queue.Move(&t.owners[c.owner], &t.owners[c.ask])
		t.queue.Settle(nil)
	}
	for _, r := range t.refused {
		t.forget(r)
	}
	return false
}

func (t *table) remove(r *queue.Request) []*queue.Request {
	t.forget(r)
	return t.queue.Remove(r)
}

func (t *table) forget(r *queue.Request) {
	i := slices.Index(t.all, r)
	t.all = slices.Delete(t.all, i, i+1)
	t.spare = append(t.spare, r)
}

// state reads the queue's state.
func (t *table) state() (state, error) {
	place := func(r *queue.Request) int { return slices.Index(t.all, r) }
	slices.SortStableFunc(t.all, func(a, b *queue.Request) int {
		switch {
		case a.Granted() == b.Granted():
			return int(a.Order) - int(b.Order)
		case a.Granted():
			return -1
		default:
			return 1
		}
	})
	s := make(state, len(t.all))
	for i, r := range t.all {
		s[i] = request{ask: r.Value.(uint8), granted: r.Granted(), watches: none}
		for o := range t.owners {
			if r.Owner == &t.owners[o] {
				s[i].owner = uint8(o)
			}
		}
		if r.Granted() {
			continue
		}
		w := place(r.Watching())
		if w < 0 || !slices.Contains(r.Watching().Watchers(), r) {
			return s, fmt.Errorf("request %d watches nobody", i)
		}
		s[i].watches = uint8(w)
	}
	l := lookAt(s)
	if n := bits.OnesCount16(uint16(l.waiting)); n != t.queue.Waiters() {
		return s, fmt.Errorf("%d wait, and the queue says %d", n, t.queue.Waiters())
	}
	for i, r := range s { // whom each waits for
		if r.granted {
			continue
		}
		var got set
		for _, c := range t.queue.InTheWay(t.all[i]) {
			got |= 1 << place(c.By)
			if !isConflict(t.all[i], c) {
				return s, fmt.Errorf("request %d is told of a conflict that is none: %+v", i, c)
			}
		}
		if want := l.inTheWay(i); got != want {
			return s, fmt.Errorf("in the way of request %d are %b, want %b", i, got, want)
		}
	}
	return s, t.wrong
}
