package quorum_test

import (
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// timeout is how long members have to answer in the tests in which some do not.
const timeout = 500 * time.Millisecond

// TestMember_oneFails: whichever of three fails, in the midst of holds and waits, everything works,
// and it takes part again when it is back.
func TestMember_oneFails(t *testing.T) {
	for _, mode := range []mode{refusing, hanging, deaf} {
		for down := range 3 {
			t.Run(fmt.Sprintf("%d, mode %d", down+1, mode), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					members := memstores(3)
					p := newProcesses(t, 1, members, quorum.WithTimeout(timeout))[0]
					t.Cleanup(func() { p.links[down].set(open) })
					tree := testlock.Tree(t)
					held := testlock.Ask(tree, x("/held"))
					testlock.Take(t, p.store, held)
					waits := testlock.Queue(t, p.store, testlock.Ask(tree, x("/held")))

					p.links[down].set(mode)
					free := testlock.Ask(tree, x("/free"))
					began := time.Now()
					const many = 100 // which the silent member would hold up for many time-outs
					for range many {
						testlock.Take(t, p.store, free)
						testlock.Release(t, p.store, free)
					}
					if took := time.Since(began); took > 3*timeout {
						t.Errorf("%d acquisitions and their releases took %v, with a time-out of %v", many, took, timeout)
					}
					testlock.Keeps(t, p.store, held)
					if _, err := p.store.Acquire(t.Context(), testlock.Ask(tree, x("/held"))); !errors.Is(err, pathlock.ErrConflict) {
						t.Errorf("what is held: %v, want a conflict", err)
					}
					testlock.Release(t, p.store, held)
					waits.Granted()

					p.links[down].set(open)
					testserver.Await(t, "the member takes part again", func() bool {
						req := testlock.Ask(tree, x("/again"))
						testlock.Take(t, p.store, req)
						defer testlock.Release(t, p.store, req)
						return holders(t, members[down], tree) == 1
					})
					testlock.Release(t, p.store, waits.Acquisition)
					for i, m := range members {
						testserver.Await(t, fmt.Sprintf("nothing is left at member %d", i+1), func() bool { return holders(t, m, tree) == 0 })
					}
				})
			})
		}
	}
}

// TestMember_twoFail: without a majority nothing is granted, calls fail at once, and nothing is
// left when they are back.
func TestMember_twoFail(t *testing.T) {
	for _, mode := range []mode{refusing, hanging, deaf} {
		synctest.Test(t, func(t *testing.T) {
			members := memstores(3)
			p := newProcesses(t, 1, members, quorum.WithTimeout(timeout), quorum.WithNames("a", "b", "c"))[0]
			tree := testlock.Tree(t)
			held := testlock.Ask(tree, x("/held"))
			testlock.Take(t, p.store, held)
			waits := testlock.Queue(t, p.store, testlock.Ask(tree, x("/held")))
			p.links[0].set(mode)
			p.links[1].set(mode)
			for range 3 {
				_, err := p.store.Acquire(t.Context(), testlock.Ask(tree, x("/free")))
				var majority *quorum.MajorityError
				if !errors.Is(err, pathlock.ErrUnavailable) || !errors.As(err, &majority) {
					t.Fatalf("without a majority: %v, want ErrUnavailable", err)
				}
				if text := err.Error(); len(majority.Failed) != 2 || !strings.HasPrefix(majority.Failed[0].Error(), "a: ") ||
					!strings.HasPrefix(majority.Failed[1].Error(), "b: ") || !strings.Contains(text, ": 2 of 3 members are needed; a: ") {
					t.Errorf("the error is %v, want a and b in it", err)
				}
			}
			_, renewed := renew(t, p.store, held)
			for what, err := range map[string]error{
				"Ping": p.store.Ping(t.Context()), "a wait": waits.Ends(), "Renew": renewed,
				"Release": p.store.Release(t.Context(), tree, held.Owner, held.Grant),
			} {
				testerr.Is(t, what, err, pathlock.ErrUnavailable)
			}
			p.links[0].set(open)
			p.links[1].set(open)
			testserver.Await(t, "a majority serves again", func() bool { return p.store.Ping(t.Context()) == nil })
			again := testlock.Ask(tree, x("/held"))
			again.Wait = generous
			testlock.Take(t, p.store, again)
			testlock.Release(t, p.store, again)
			for i, m := range members {
				testserver.Await(t, fmt.Sprintf("nothing is left at member %d", i+1), func() bool { return holders(t, m, tree) == 0 })
			}
		})
	}
}

// TestMember_onlyRefusesToGrant: a member that answers, and grants nothing, as a Redis without
// memory does, is not silent: it renews, hands over and releases. A request that the others are too
// few to grant ends at once.
func TestMember_onlyRefusesToGrant(t *testing.T) {
	for full := 1; full <= 3; full++ {
		synctest.Test(t, func(t *testing.T) {
			var members []pathlock.Store
			for _, m := range memstores(3) {
				members = append(members, &testlock.Watched{Store: m})
			}
			s := newQuorum(t, members, quorum.WithTimeout(timeout))
			tree := testlock.Tree(t)
			held, free := testlock.Ask(tree, x("/held")), testlock.Ask(tree, x("/free"))
			testlock.Take(t, s, held)
			waits := testlock.Queue(t, s, testlock.Ask(tree, x("/held")))
			for _, m := range members[:full] {
				m.(*testlock.Watched).Set(testlock.Failing(fmt.Errorf("%w: out of memory", pathlock.ErrUnavailable), "acquire"))
			}
			free.Wait = testlock.Long
			began := time.Now()
			_, err := s.Acquire(t.Context(), free)
			if full == 1 {
				testerr.Must(t, err)
				testlock.Release(t, s, free)
			} else if !errors.Is(err, pathlock.ErrUnavailable) || !strings.Contains(err.Error(), "member 1: pathlock: lock store unavailable: out of memory") || time.Since(began) > timeout {
				t.Errorf("%d members are full: %v after %v", full, err, time.Since(began))
			}
			testlock.Keeps(t, s, held)
			testlock.Release(t, s, held)
			if full < 3 {
				waits.Granted()
			} else { // nobody confirms what its queue has let in
				testerr.Is(t, "the waiter", waits.Ends(), pathlock.ErrUnavailable)
			}
		})
	}
}

// TestAcquire_endsInTime: whichever members fall silent, and when, a call takes no more than its
// wait and the time-outs of all, less what it has spent before. Their clocks differ, so that a
// majority waits for its fence to be outlasted.
func TestAcquire_endsInTime(t *testing.T) {
	for _, members := range []int{3, 5} {
		synctest.Test(t, func(t *testing.T) {
			stores := memstores(members)
			for i, s := range stores {
				stores[i] = ahead{s, time.Duration(i) * 4 * time.Millisecond}
			}
			p := newProcesses(t, 1, stores, quorum.WithTimeout(timeout))
			ctx, stop := context.WithCancel(t.Context())
			var cutting sync.WaitGroup
			cutting.Go(func() { nemesis(ctx, p, members-1, timeout/3, func(int) bool { return false }) })
			for i := range 1000 {
				time.Sleep(mathrand.N(timeout))
				req := testlock.Ask(testlock.Tree(t), x("/a"))
				req.Wait, req.Spent = mathrand.N(timeout), mathrand.N(time.Duration(members)*timeout)
				if i%4 == 0 {
					req.Wait, req.Spent = 0, time.Duration(members)*timeout-mathrand.N(20*time.Millisecond)
				}
				began := time.Now()
				_, err := p[0].store.Acquire(ctx, req)
				if took, most := time.Since(began), req.Wait+time.Duration(members)*timeout-req.Spent; took > most {
					t.Errorf("a call of %d members took %v, want at most %v: %v", members, took, most, err)
				}
			}
			stop()
			cutting.Wait()
		})
	}
}

// TestAcquire_GivesAllBackWithoutAMajority: what only the lead grants is left to nobody, and a
// request that waits asks for it again.
func TestAcquire_GivesAllBackWithoutAMajority(t *testing.T) {
	members := memstores(3)
	p := newProcesses(t, 1, members, quorum.WithTimeout(generous))[0]
	other := testlock.Ask(testlock.Tree(t), x("/a")) // of a process that does not reach the lead
	for _, m := range members[1:] {
		testlock.Take(t, m, other)
	}
	testerr.Is(t, "without a majority", testerr.Of(p.store.Acquire(t.Context(), testlock.Ask(other.Tree, x("/a")))), pathlock.ErrConflict)
	if n := holders(t, members[0], other.Tree); n > 0 {
		t.Errorf("%d grants are left at the lead", n)
	}
	w := testlock.Queue(t, p.store, testlock.Ask(other.Tree, x("/a")))
	testlock.Release(t, members[1], other)
	w.Granted()
	testlock.Release(t, members[2], other)
	testlock.Release(t, p.store, w.Acquisition)
}

// stubborn is a member whose first acquisition, if let is not nil, ends with its context only when
// it is let go. It counts acquisitions.
type stubborn struct {
	pathlock.Store
	let   chan struct{}
	calls atomic.Int64
}

func (s *stubborn) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if s.calls.Add(1) == 1 && s.let != nil {
		<-s.let
		return pathlock.Grant{}, silent(ctx)
	}
	return s.Store.Acquire(ctx, req)
}

// TestMember_IsNotAskedAgainBeforeItHasGivenBack: giving back what an earlier question got takes
// nothing from a grant that the request has got since.
func TestMember_IsNotAskedAgainBeforeItHasGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		members := memstores(3)
		slow, second := &stubborn{Store: members[0], let: make(chan struct{})}, &stubborn{Store: members[1]}
		p := newProcesses(t, 1, []pathlock.Store{slow, second, members[2]}, quorum.WithTimeout(timeout))[0]
		p.links[2].set(refusing)
		other := testlock.Ask(testlock.Tree(t), x("/a"))
		testlock.Take(t, members[1], other)
		w := testlock.Queue(t, p.store, testlock.Ask(other.Tree, x("/a"))) // at the second
		testserver.Await(t, "the first member is back", func() bool { return p.store.Ping(t.Context()) == nil })
		testlock.Release(t, members[1], other)
		testserver.Await(t, "the first member is asked again, or the second one in a further try", func() bool {
			return holders(t, members[0], other.Tree) > 0 || second.calls.Load() > 1
		})
		close(slow.let)
		w.Granted()
		if err := p.store.Close(t.Context()); err != nil { // which waits for what is given back
			t.Fatal(err)
		}
		for i, m := range members[:2] {
			if n := holders(t, m, other.Tree); n != 1 {
				t.Errorf("%d grants at member %d, want the request's", n, i+1)
			}
		}
	})
}

// TestMember_restartedEmpty: a renewal does not bring back what a member has lost, so that a hold
// ends when a majority of the members have been restarted in its time, and is not lost before that.
func TestMember_restartedEmpty(t *testing.T) {
	p := newProcesses(t, 1, memstores(3), quorum.WithTimeout(generous))[0]
	held := testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, p.store, held)
	p.links[0].store = memstore.New() // the lead
	testlock.Keeps(t, p.store, held)
	testerr.Is(t, "what is held", testerr.Of(p.store.Acquire(t.Context(), testlock.Ask(held.Tree, x("/a")))), pathlock.ErrConflict)
	more := testlock.Ask(held.Tree, x("/b"))
	more.Owner, more.Held = held.Owner, true
	testlock.Take(t, p.store, more)
	p.links[2].store = memstore.New()
	testserver.Await(t, "the loss is reported", func() bool {
		lost, err := renew(t, p.store, held)
		return err == nil && len(lost) == 1
	})
}

// TestRenew_saysWhoHasLost: a member that answers, and has nothing of an owner, is a reason why a
// renewal fails.
func TestRenew_saysWhoHasLost(t *testing.T) {
	p := newProcesses(t, 1, memstores(3), quorum.WithTimeout(generous))[0]
	held := testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, p.store, held)
	p.links[1].store = memstore.New()
	p.links[2].set(refusing)
	_, err := renew(t, p.store, held)
	if text := fmt.Sprint(err); !errors.Is(err, pathlock.ErrUnavailable) || !strings.Contains(text, "; member 2: pathlock: lock lost") {
		t.Errorf("the error is %v", err)
	}
}

// TestTransferWithoutAMajority: what a minority has given to a new owner is left to nobody.
func TestTransferWithoutAMajority(t *testing.T) {
	members := memstores(3)
	p := newProcesses(t, 1, members, quorum.WithTimeout(generous))[0]
	held := testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, p.store, held)
	for _, m := range members[1:] {
		testlock.Release(t, m, held)
	}
	_, err := p.store.Transfer(t.Context(), pathlock.Transfer{Tree: held.Tree, From: held.Owner, To: "d-heir", Lease: time.Minute})
	testerr.Is(t, "Transfer", err, pathlock.ErrLost)
	if n := holders(t, members[0], held.Tree); n > 0 {
		t.Errorf("%d grants are left at the first member", n)
	}
}

// TestWithTimeout_tooShort: a time in which nobody can answer is no reason to crash.
func TestWithTimeout_tooShort(t *testing.T) {
	p := newProcesses(t, 1, memstores(3), quorum.WithTimeout(1))[0]
	testerr.Is(t, "Ping", p.store.Ping(t.Context()), pathlock.ErrUnavailable)
	time.Sleep(10 * time.Millisecond) // the members are looked at again
}
