package storetest

import (
	"cmp"
	"errors"
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

func (m *machine) release() {
	i := m.random.IntN(len(m.holds))
	r := m.holds[i]
	m.note("release of %v", r)
	m.holds = slices.Delete(m.holds, i, i+1)
	if err := m.store.Release(m.ctx, m.tree, r.owner, r.req.Grant); err != nil {
		m.Fatalf("release of %v: %v", r, err)
	}
	if m.random.IntN(4) == 0 {
		m.requireIs(m.store.Release(m.ctx, m.tree, r.owner, r.req.Grant), pathlock.ErrNotHeld)
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

// repeat sends a granted request again: whoever waits, it gets the same grant.
func (m *machine) repeat() {
	if len(m.holds) == 0 {
		return
	}
	r := m.any(m.holds)
	m.note("repetition of %v", r)
	req := r.req
	req.Owner = r.owner // it may have been transferred
	if g, err := m.store.Acquire(m.ctx, req); err != nil || g.Fence != r.fence {
		m.Fatalf("the fence is %d, %v; want %d as before", g.Fence, err, r.fence)
	}
}

// releaseWhatIsNotHeld names a grant that waits, another's, or none: nothing changes.
func (m *machine) releaseWhatIsNotHeld() {
	owner, id, tree := m.anybody().owner, pathlock.GrantID("none"), m.tree
	switch {
	case len(m.waits) > 0 && m.random.IntN(2) == 0:
		r := m.any(m.waits)
		owner, id = r.owner, r.req.Grant
	case len(m.holds) > 0 && m.random.IntN(2) == 0:
		id = m.any(m.holds).req.Grant
	case len(m.holds) > 0:
		r := m.any(m.holds)
		owner, id, tree = r.owner, r.req.Grant, m.elsewhere
	}
	if tree == m.tree && slices.ContainsFunc(m.holds, func(h *shadow) bool { return h.owner == owner && h.req.Grant == id }) {
		return
	}
	m.note("release of %s's %s in %v", owner.Short(), id, tree)
	m.requireIs(m.store.Release(m.ctx, tree, owner, id), pathlock.ErrNotHeld)
}

// renewAll requires that a renewal of all owners tells which of them hold nothing.
func (m *machine) renewAll() {
	m.note("renewal")
	var leases []pathlock.Lease
	var want []pathlock.Owner
	for _, a := range m.actors {
		leases = append(leases, pathlock.Lease{Owner: a.owner, For: long})
		if !m.isHolder(a.owner) {
			want = append(want, a.owner)
		}
	}
	lost, err := m.store.Renew(m.ctx, m.tree, leases)
	slices.Sort(lost)
	slices.Sort(want)
	if err != nil || !slices.Equal(lost, want) {
		m.Fatalf("the lost are %q, %v; want %q", lost, err, want)
	}
}

// force takes away what somebody has and waits for.
func (m *machine) force() {
	a := m.anybody()
	m.note("force release of %s", a.name)
	waits := m.ofOwner(a.owner)
	nothing := !m.isHolder(a.owner) && len(waits) == 0
	ofOwner := func(r *shadow) bool { return r.owner == a.owner }
	m.holds, m.waits = slices.DeleteFunc(m.holds, ofOwner), slices.DeleteFunc(m.waits, ofOwner)
	err := m.store.ForceRelease(m.ctx, m.tree, a.owner)
	if nothing {
		m.requireIs(err, pathlock.ErrNotHeld)
		return
	}
	if err != nil {
		m.Fatalf("ForceRelease: %v", err)
	}
	for _, r := range waits {
		m.requireIs(r.pending.fails(), pathlock.ErrLost)
	}
}

// transfer gives what somebody holds to a new owner, or to the same one, and sends that twice. What
// waits stays with its owner.
func (m *machine) transfer() {
	m.actors = slices.DeleteFunc(m.actors, func(a *actor) bool {
		return a.owner.Detached() && !m.isHolder(a.owner) && len(m.ofOwner(a.owner)) == 0
	})
	from := m.anybody()
	if len(m.holds) > 0 && m.random.IntN(4) > 0 {
		// An owner that holds more is drawn more often, so that several grants move at once.
		from = m.any(m.holds).actor
	}
	to := from
	if m.random.IntN(3) > 0 {
		m.heirs++
		to = m.detached(fmt.Sprint("heir ", m.heirs))
	}
	m.note("transfer from %s to %s", from.name, to.name)
	for range 2 {
		got, err := from.transfer(to, long)
		if !m.isHolder(from.owner) && !m.isHolder(to.owner) {
			m.requireIs(err, pathlock.ErrLost)
			return
		}
		if err != nil {
			m.Fatalf("Transfer: %v", err)
		}
		for _, r := range m.holds {
			if r.owner == from.owner {
				r.actor = to
				m.used[name{to.owner, r.req.Grant}] = true
			}
		}
		m.requireTransferred(to, got)
	}
	if to != from {
		m.actors = append(m.actors, to)
	}
}

// requireTransferred checks what a transfer says of what an owner holds.
func (m *machine) requireTransferred(to *actor, got pathlock.Transferred) {
	m.Helper()
	m.requireLeft(got, long)
	held := slices.DeleteFunc(slices.Clone(m.holds), func(r *shadow) bool { return r.owner != to.owner })
	if len(got.Grants) != len(held) {
		m.Fatalf("the transfer names %+v, want %v", got.Grants, held)
	}
	for i, r := range held {
		g := got.Grants[i]
		if g.ID != r.req.Grant || g.Gate != r.req.Gate || g.Note != r.req.Note || g.Fence != r.fence || g.Apart || !slices.Equal(g.Claims, r.req.Claims) {
			m.Fatalf("the transfer names %+v, want %v", g, r)
		}
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

// deadlock requires that a request, which is made to wait, gets a deadlock at once.
func (a *actor) deadlock(req pathlock.Acquisition) pathlock.DeadlockError {
	a.Helper()
	req.Wait = long
	p := a.start(a.ctx, req)
	err := p.fails()
	a.requireIs(err, pathlock.ErrDeadlock)
	var d *pathlock.DeadlockError
	if !errors.As(err, &d) {
		a.Fatalf("error is %v (%T), want a *DeadlockError", err, err)
	}
	return *d
}
