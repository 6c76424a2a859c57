package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// seedVariable fixes the seed of the random machine, so that a failure can be repeated.
const seedVariable = "PATHLOCK_STORETEST_SEED"

func model() topic {
	const runs = 4
	t := topic{name: "model"}
	for run := range runs {
		t.promises = append(t.promises, promise{
			fmt.Sprintf("random operations do what the definition says, %d", run+1),
			func(f *fixture) { newMachine(f).run() },
		})
	}
	return t
}

// machine does random things to a tree, one after the other. It compares each answer, and what the
// store shows afterwards, with the rule in its plainest form.
//
// An owner that waits asks for nothing else, since a store need not see at once that a grant to one
// of an owner's requests makes another one a deadlock. A holder's request for the gate waits for
// all other holders at least: a store may shut the tree to them at once, or take the gate when they
// have had their turn. So there are none here.
type machine struct {
	*fixture
	queue
	elsewhere pathlock.Tree
	random    *rand.Rand
	actors    []*actor
	heirs     int
	fence     uint64 // the greatest so far
	used      map[name]bool
	history   []string
}

// name is what a store knows a request by. It is that of one request for good.
type name struct {
	owner pathlock.Owner
	grant pathlock.GrantID
}

func newMachine(f *fixture) *machine {
	seed := rand.Uint64()
	if fixed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil {
		seed = fixed
	}
	m := &machine{fixture: f, elsewhere: f.newTree("another " + f.tree.ID()), random: rand.New(rand.NewPCG(seed, 0)), used: make(map[name]bool)}
	for i := range 6 {
		m.actors = append(m.actors, f.actor(fmt.Sprint("owner ", i+1)))
	}
	f.Cleanup(func() {
		if f.Failed() {
			f.Logf("%s=%d; what happened:\n%s", seedVariable, seed, strings.Join(m.history, "\n"))
		}
	})
	return m
}

func (m *machine) note(format string, args ...any) {
	m.history = append(m.history, fmt.Sprintf(format, args...))
}

func (m *machine) run() {
	steps := 250
	if testing.Short() {
		steps = 100
	}
	for range steps {
		m.step()
		m.settle()
		m.compare()
	}
	for len(m.holds) > 0 {
		m.release()
		m.settle()
	}
}

func (m *machine) step() {
	switch n := m.random.IntN(24); {
	case n < 7 && len(m.holds) > 0:
		m.release()
	case n < 8 && len(m.waits) > 0:
		m.cancel()
	case n < 9:
		m.repeat()
	case n < 10:
		m.releaseWhatIsNotHeld()
	case n < 11:
		m.renewAll()
	case n < 12 && m.random.IntN(2) == 0:
		m.force()
	case n < 13:
		m.transfer()
	default:
		m.request()
	}
}

func (m *machine) anybody() *actor { return m.actors[m.random.IntN(len(m.actors))] }

// any returns one of the requests.
func (m *machine) any(of []*shadow) *shadow { return of[m.random.IntN(len(of))] }

// request sends a random request and requires the answer that the rule gives.
func (m *machine) request() {
	paths := []string{"/", "/a", "/a/b", "/a/b/c", "/a/d", "/a-b", "/e", "/e/f"}
	r := &shadow{actor: m.anybody()}
	if len(m.ofOwner(r.owner)) > 0 {
		return
	}
	for range 1 + m.random.IntN(2) {
		mode := pathlock.Modes()[m.random.IntN(len(pathlock.Modes()))]
		r.set = append(r.set, claim(mode, paths[m.random.IntN(len(paths))]))
	}
	r.req = r.ask(r.set...)
	r.req.Gate = !m.isHolder(r.owner) && m.random.IntN(25) == 0
	r.req.Held = m.random.IntN(3) == 0 && (m.isHolder(r.owner) || m.random.IntN(4) == 0)
	if others := slices.Concat(m.holds, m.waits); len(others) > 0 && m.random.IntN(8) == 0 {
		// Grant ids are their owner's.
		r.req.Grant = m.any(others).req.Grant
		if m.used[name{r.owner, r.req.Grant}] {
			return
		}
	}
	m.used[name{r.owner, r.req.Grant}] = true
	m.send(r)
}

func (m *machine) send(r *shadow) {
	m.arrivals++
	r.arrival = m.arrivals
	if r.req.Held && !m.isHolder(r.owner) {
		m.note("%v builds on what it does not hold", r)
		_, err := m.store.Acquire(m.ctx, r.req)
		m.requireIs(err, pathlock.ErrLost)
		return
	}
	if m.admits(r) {
		m.note("grant of %v", r)
		m.grant(r, r.take(r.req).fence, m.fence)
		return
	}
	// One who does not wait is kept back by the same, and never by a deadlock.
	m.note("refusal of %v", r)
	holds, waits := m.inTheWay(r)
	c := r.refuse(r.req)
	if named := func(o *shadow) bool { return r.isRefusedFor(o, c) }; !slices.ContainsFunc(holds, named) && !slices.ContainsFunc(waits, named) {
		m.Fatalf("%v is refused for %+v, want one of %v or %v", r, c, holds, waits)
	}
	if cycle := m.cycle(r); len(cycle) > 0 {
		m.note("deadlock of %v", r)
		d := r.deadlock(r.req)
		if !slices.ContainsFunc(cycle, func(h *shadow) bool { return h.owner == d.Blocker.Owner }) {
			m.Fatalf("%v is a deadlock for %+v, want one of %v", r, d, cycle)
		}
		return
	}
	m.note("wait of %v", r)
	r.pending = r.queue(r.ctx, r.req)
	m.waits = append(m.waits, r)
}

// isRefusedFor reports whether a conflict of r tells of another request, which is in r's way.
func (r *shadow) isRefusedFor(other *shadow, c pathlock.ConflictError) bool {
	switch b := c.Blocker; {
	case b.Owner != other.owner || b.Waiting != (other.pending != nil):
		return false
	case c.Gate || b.Gate:
		return (!c.Gate || r.req.Gate) && (!b.Gate || other.req.Gate)
	default:
		return b.Note == other.req.Note && b.Origin == other.req.Origin && !mayMeet(c.Mode, b.Mode) && slices.Contains(r.req.Claims, pathlock.Claim{Path: c.Path, Mode: c.Mode})
	}
}

func (r *shadow) String() string {
	gate := ""
	if r.req.Gate {
		gate = "the gate and "
	}
	return fmt.Sprintf("%s (%s): %s%v", r.name, r.req.Grant, gate, r.set)
}

// grant notes that r is held, with a fence greater than all before a moment.
func (m *machine) grant(r *shadow, fence, before uint64) {
	m.Helper()
	if r.fence, r.pending = fence, nil; fence <= before {
		m.Fatalf("fence %d after %d", fence, before)
	}
	m.fence = max(m.fence, fence)
	m.holds = append(m.holds, r)
}

// settle requires that those who may be granted now are, and nobody else. Those who are let in at
// once have their fences in any order.
func (m *machine) settle() {
	for before := m.fence; ; {
		i := slices.IndexFunc(m.waits, m.admits)
		if i < 0 {
			return
		}
		r := m.waits[i]
		m.note("hand-over to %v", r)
		m.waits = slices.Delete(m.waits, i, i+1)
		m.grant(r, r.pending.isGranted().fence, before)
	}
}

// cancel makes a waiter give up. It may ask again at once.
func (m *machine) cancel() {
	i := m.random.IntN(len(m.waits))
	r := m.waits[i]
	m.note("cancel of %v", r)
	m.waits = slices.Delete(m.waits, i, i+1)
	r.pending.isCancelled()
	m.settle()
	// A busy server may be told that it is over a little after the call has ended.
	for end := time.Now().Add(10 * time.Second); len(m.snapshot(m.tree).Waiters) > len(m.waits) && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if r.pending = nil; m.random.IntN(2) == 0 {
		m.send(r)
	}
}

// compare requires that the store shows who holds, in the order of the fences, and who waits, in
// the order of arrival.
func (m *machine) compare() {
	m.Helper()
	slices.SortFunc(m.holds, func(a, b *shadow) int { return cmp.Compare(a.fence, b.fence) })
	snap := m.snapshot(m.tree)
	// It may be greater than those of the holds: of one that was released, or came to no majority.
	if n := len(m.holds); n > 0 && snap.Fence < m.holds[n-1].fence {
		m.Fatalf("the latest fence is %d, want %d at least", snap.Fence, m.holds[n-1].fence)
	}
	for _, list := range []struct {
		name string
		got  []pathlock.Entry
		want []*shadow
	}{{"holders", snap.Holders, m.holds}, {"waiters", snap.Waiters, m.waits}} {
		same := func(e pathlock.Entry, r *shadow) bool {
			return e.Owner == r.owner && e.Note == r.req.Note && e.Origin == r.req.Origin && e.Gate == r.req.Gate &&
				e.Detached == r.owner.Detached() && e.Fence == r.fence && slices.Equal(e.Claims, r.req.Claims) && e.Until.After(e.Since) && !e.Since.IsZero()
		}
		if !slices.EqualFunc(list.got, list.want, same) {
			m.Fatalf("%s are %+v, want %v", list.name, list.got, list.want)
		}
	}
}
