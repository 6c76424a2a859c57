package locktable

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// A table that is made anew from its records before each use does what one does that stays: random
// requests, signs of life, releases, renewals, transfers, and leases that end. After every step,
// both are sound and hold the same.
func TestRestore_goesOnAsATableThatStays(t *testing.T) {
	for _, seed := range seeds() {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			p := newPair(t, seed)
			for step := range 120 {
				p.step(step)
			}
		})
	}
}

// seeds are some random histories, and two in which the only grant of an owner is apart: the lease
// of the owner ends when that of the grant does, or before.
func seeds() []uint64 {
	all := []uint64{12985046377791625447, 6311944794768125049}
	for range 30 {
		all = append(all, rand.Uint64())
	}
	return all
}

// pair is a table that stays, and one that is restored before each use.
type pair struct {
	*testing.T
	random         *rand.Rand
	now            time.Time
	tree           pathlock.Tree
	stays          *Table
	restored       *Table
	fences, copies uint64
}

func newPair(t *testing.T, seed uint64) *pair {
	tree, err := pathlock.NewTree("test", "plan")
	testerr.Must(t, err)
	p := &pair{T: t, random: rand.New(rand.NewPCG(seed, 0)), now: time.UnixMicro(1_000_000), tree: tree}
	p.stays = New(tree, func(time.Time) uint64 { p.fences++; return p.fences }, func(*Request) {})
	p.stays.mortal = true
	p.restored = p.empty()
	return p
}

func (p *pair) empty() *Table {
	return New(p.tree, func(time.Time) uint64 { p.copies++; return p.copies }, func(*Request) {})
}

// restore makes the second table anew.
func (p *pair) restore() {
	var records []*Record
	for r := range p.restored.Requests {
		rec := r.Record()
		if !r.Changed() {
			rec = *r.restored // a store writes what has changed
		}
		records = append(records, &rec)
	}
	last := Last{Fence: p.restored.fence, Ticket: p.restored.ticket}
	p.restored = p.empty()
	p.restored.Restore(records, p.now, last, 0)
}

// step does one random thing to both.
func (p *pair) step(n int) {
	p.Helper()
	p.now = p.now.Add(time.Duration(p.random.IntN(10)) * time.Second)
	p.stays.Enter(p.now)
	p.restore()
	what, do := p.operation(n)
	got, want := do(p.restored), do(p.stays)
	if !reflect.DeepEqual(got, want) {
		p.Fatalf("step %d, %s: restored %v, staying %v", n, what, got, want)
	}
	for name, table := range map[string]*Table{"restored": p.restored, "staying": p.stays} {
		if err := sound(table); err != nil {
			p.Fatalf("step %d, %s, the %s table: %v", n, what, name, err)
		}
	}
	if got, want := p.restored.Snapshot(), p.stays.Snapshot(); !reflect.DeepEqual(got, want) {
		p.Fatalf("step %d, %s: restored\n%+v\nstaying\n%+v", n, what, got, want)
	}
}

func (p *pair) owner() pathlock.Owner { return pathlock.Owner(rune('a' + p.random.IntN(6))) }

func (p *pair) id() pathlock.GrantID { return pathlock.GrantID(fmt.Sprint(p.random.IntN(4))) }

// operation returns a random thing to do to a table, which tells how it ended.
func (p *pair) operation(n int) (string, func(*Table) []any) {
	owner, id := p.owner(), p.id()
	switch p.random.IntN(20) {
	default:
		req := p.request(n, owner, id)
		return fmt.Sprintf("acquire %s %s %v", owner, id, req.Claims), func(t *Table) []any {
			r, err := t.Acquire(req)
			if err != nil {
				return []any{err.Error()}
			}
			return []any{r.Fence(), r.Queued()}
		}
	case 12, 13, 14:
		return fmt.Sprint("release ", owner, id), func(t *Table) []any { return []any{errors.Unwrap(t.Release(owner, id))} }
	case 15:
		return fmt.Sprint("give up ", owner, id), func(t *Table) []any {
			r := t.Find(owner, id)
			if r == nil || !r.Queued() {
				return nil
			}
			t.GiveUp(r)
			return []any{true}
		}
	case 16:
		lease := pathlock.Lease{Owner: owner, For: time.Duration(p.random.IntN(60)) * time.Second}
		return fmt.Sprint("renew ", owner), func(t *Table) []any { return []any{t.Renew([]pathlock.Lease{lease})} }
	case 17:
		return fmt.Sprint("force ", owner), func(t *Table) []any { return []any{t.ForceRelease(owner) == nil} }
	case 18, 19:
		tr := pathlock.Transfer{Tree: p.tree, From: owner, To: p.owner(), Lease: time.Duration(p.random.IntN(60)) * time.Second}
		return fmt.Sprint("transfer ", tr), func(t *Table) []any {
			got, err := t.Transfer(tr)
			return []any{got, err == nil}
		}
	}
}

func (p *pair) request(n int, owner pathlock.Owner, id pathlock.GrantID) pathlock.Acquisition {
	paths := []string{"/", "/a", "/a/b", "/a/b/c", "/a/d", "/e"}
	var set []pathlock.Claim
	for range 1 + p.random.IntN(2) {
		set = append(set, pathlock.Claim{
			Path: pathlock.MustParsePath(paths[p.random.IntN(len(paths))]),
			Mode: pathlock.Modes()[p.random.IntN(len(pathlock.Modes()))],
		})
	}
	held := false
	if o := p.stays.owners[owner]; o != nil {
		held = o.Holds()
	}
	return pathlock.Acquisition{
		Tree: p.tree, Owner: owner, Grant: id, Gate: p.random.IntN(30) == 0, Claims: pathlock.Normalize(set...),
		Held: held, Apart: held && p.random.IntN(3) == 0,
		Lease: time.Duration(1+p.random.IntN(100)) * time.Second,
		Wait:  time.Duration(p.random.IntN(3)) * time.Hour, Note: fmt.Sprintf("step %d", n),
	}
}

// sound checks by what a snapshot shows that no two holders conflict, and that nobody waits for
// nobody.
func sound(t *Table) error {
	if n := reflect.ValueOf(t.queue).FieldByName("root").FieldByName("uses").Int(); n > 0 && t.IsEmpty() {
		return fmt.Errorf("an empty table has %d nodes", n)
	}
	s := t.Snapshot()
	for i, h := range s.Holders {
		alone := pathlock.Snapshot{Holders: s.Holders[:i]}
		if in := alone.InTheWay(h.Owner, h.Gate, h.Claims); len(in) > 0 {
			return fmt.Errorf("%s and %s hold what conflicts", h.Note, in[0].Entry.Note)
		}
	}
	for i, blockers := range s.Blockers() {
		if len(blockers) == 0 {
			return fmt.Errorf("%s waits for nobody", s.Waiters[i].Note)
		}
	}
	return nil
}
