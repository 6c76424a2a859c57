package locktable

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock"
)

// What a snapshot says of who waits for whom is what the definition says of the table that it was
// taken of, after every step of random histories.
func TestASnapshotKnowsWhoWaitsForWhom(t *testing.T) {
	edges, passed := 0, 0
	for _, seed := range seeds() {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			p := newPair(t, seed)
			for step := range 200 {
				p.step(step)
				e, pass := p.compareBlockers(step)
				edges, passed = edges+e, passed+pass
			}
		})
	}
	if edges == 0 || passed == 0 {
		t.Errorf("the histories had %d edges, and %d waiters passed somebody: too tame", edges, passed)
	}
}

// compareBlockers returns how many edges there are, and how many conflicts with earlier waiters are
// no edges.
func (p *pair) compareBlockers(step int) (edges, passed int) {
	p.Helper()
	requests := make(map[*Request]bool)
	for r := range p.stays.Requests {
		requests[r] = true
	}
	d := newDefinition(requests)
	slices.SortFunc(d.granted, byFence)
	got := p.stays.Snapshot().Blockers()
	for i, w := range d.waiting {
		var want []uint64
		for _, h := range d.granted {
			if conflict(w, h) {
				want = append(want, h.fence)
			}
		}
		holders := len(want)
		for at, v := range d.waiting[:i] {
			switch {
			case !conflict(w, v):
			case d.mayPass(w, v):
				passed++
			default:
				want = append(want, uint64(at))
			}
		}
		edges += len(want)
		var have []uint64
		for n, b := range got[i] {
			if b.Waiting != (n >= holders) {
				p.Fatalf("step %d: blocker %d of waiter %d is %+v, after %d holders", step, n, i, b, holders)
			}
			if b.Waiting {
				have = append(have, p.place(b.Entry))
				continue
			}
			have = append(have, b.Entry.Fence)
		}
		if !reflect.DeepEqual(have, want) {
			p.Fatalf("step %d: waiter %d is blocked by %v, want %v\n%+v", step, i, have, want, p.stays.Snapshot())
		}
	}
	return edges, passed
}

// place returns the place of a waiter of a snapshot in the queue. A waiter is told from others by
// all that a snapshot says of it.
func (p *pair) place(h *pathlock.Entry) uint64 {
	p.Helper()
	at := slices.IndexFunc(p.stays.Snapshot().Waiters, func(w pathlock.Entry) bool { return reflect.DeepEqual(w, *h) })
	if at < 0 {
		p.Fatalf("%+v is no waiter", *h)
	}
	return uint64(at)
}
