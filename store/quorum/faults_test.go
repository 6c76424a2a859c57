package quorum_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testredis"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/quorum"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// timeout is what members have to answer in the tests in which some do not.
const timeout = 500 * time.Millisecond

// x claims a path exclusively.
func x(path string) pathlock.Claim { return pathlock.X(pathlock.MustParsePath(path)) }

// take requires that a request is granted.
func take(t testing.TB, s pathlock.Store, req pathlock.Acquisition) pathlock.Grant {
	t.Helper()
	g, err := s.Acquire(t.Context(), req)
	if err != nil {
		t.Fatalf("%v: %v, want a grant", req.Claims, err)
	}
	return g
}

// release requires that a grant can be given back.
func release(t testing.TB, s pathlock.Store, req pathlock.Acquisition) {
	t.Helper()
	if err := s.Release(t.Context(), req.Tree, req.Owner, req.Grant); err != nil {
		t.Fatalf("release: %v", err)
	}
}

// waiter is a request that waits.
type waiter struct {
	t    testing.TB
	req  pathlock.Acquisition
	done chan struct{}
	err  error
}

// queue requires that a request begins to wait.
func queue(t testing.TB, s pathlock.Store, req pathlock.Acquisition) *waiter {
	t.Helper()
	begun := make(chan struct{})
	req.Wait, req.Waiting = time.Minute, func() { close(begun) }
	w := &waiter{t: t, req: req, done: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() {
		defer close(w.done)
		_, w.err = s.Acquire(ctx, req)
	}()
	t.Cleanup(func() { cancel(); <-w.done })
	select {
	case <-begun:
	case <-w.done:
		t.Fatalf("%v: %v, want it to wait", req.Claims, w.err)
	case <-time.After(generous):
		t.Fatalf("%v: it is not queued", req.Claims)
	}
	return w
}

// granted requires that the wait ends with a grant.
func (w *waiter) granted() {
	w.t.Helper()
	select {
	case <-w.done:
	case <-time.After(2 * generous):
		w.t.Fatalf("%v: still waits", w.req.Claims)
	}
	if w.err != nil {
		w.t.Fatalf("%v: %v, want a grant", w.req.Claims, w.err)
	}
}

// fault is a way in which a server fails, and how it comes back.
type fault struct {
	name      string
	fail, end func(*testredis.Server)
}

func faults() []fault {
	return []fault{
		{"killed and restarted empty", (*testredis.Server).Kill, (*testredis.Server).Start},
		{"paused", (*testredis.Server).Pause, (*testredis.Server).Resume},
	}
}

// TestOneMasterDown: whichever of three masters fails, in the midst of holds and waits, everything
// works, and it takes part again when it is back.
func TestOneMasterDown(t *testing.T) {
	for _, fault := range faults() {
		for down := range 3 {
			t.Run(fault.name+", the "+[]string{"first", "second", "third"}[down], func(t *testing.T) {
				servers := startRedis(t)
				s := newQuorum(t, redisMembers(t, servers), quorum.WithTimeout(timeout))
				tree := newTree(t)
				held := ask(tree, x("/held"))
				take(t, s, held)
				waits := queue(t, s, ask(tree, x("/held")))
				behind := queue(t, s, ask(tree, x("/held")))

				fault.fail(servers[down])
				began := time.Now()
				free := ask(tree, x("/free"))
				take(t, s, free)
				first := time.Since(began)
				release(t, s, free)
				if lost, err := s.Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: time.Minute}}); err != nil || len(lost) > 0 {
					t.Errorf("Renew: lost %v, %v", lost, err)
				}
				if _, err := s.Acquire(t.Context(), ask(tree, x("/held"))); !errors.Is(err, pathlock.ErrConflict) {
					t.Errorf("what is held: %v, want a conflict", err)
				}
				release(t, s, held)
				// Where the first member fails, those that wait queue anew, and any of them may be
				// the first.
				if down == 0 {
					select {
					case <-waits.done:
					case <-behind.done:
						waits, behind = behind, waits
					case <-time.After(generous):
						t.Fatal("nobody is granted")
					}
				}
				waits.granted()
				release(t, s, waits.req)
				behind.granted()
				release(t, s, behind.req)

				times := make([]time.Duration, 20)
				for i := range times {
					began := time.Now()
					take(t, s, free)
					release(t, s, free)
					times[i] = time.Since(began)
				}
				slices.Sort(times)
				t.Logf("the first acquisition took %v, later ones with their releases %v in the median", first, times[len(times)/2])
				if most := 2*timeout + time.Second; first > most {
					t.Errorf("the first acquisition took %v, want at most %v", first, most)
				}
				if times[len(times)/2] > timeout/4 {
					t.Errorf("an acquisition and its release take %v, while a member is known to be silent", times[len(times)/2])
				}

				fault.end(servers[down])
				testserver.Await(t, "the member takes part again", func() bool {
					req := ask(tree, x("/again"))
					take(t, s, req)
					defer release(t, s, req)
					snap, err := redisMembers(t, servers[down:down+1])[0].Snapshot(t.Context(), tree)
					return err == nil && len(snap.Holders) == 1
				})
				requireEmpty(t, s, tree, servers)
			})
		}
	}
}

// requireEmpty fails the test if anything is left at any of the servers.
func requireEmpty(t *testing.T, s *quorum.Store, tree pathlock.Tree, servers []*testredis.Server) {
	t.Helper()
	if snap, err := s.Snapshot(t.Context(), tree); err != nil || len(snap.Holders)+len(snap.Waiters) > 0 {
		t.Errorf("left behind: %+v, %v", snap, err)
	}
	for i, m := range redisMembers(t, servers) {
		testserver.Await(t, "nothing is left at a member", func() bool {
			snap, err := m.Snapshot(t.Context(), tree)
			if err != nil {
				t.Errorf("member %d: %v", i, err)
				return true
			}
			return len(snap.Holders)+len(snap.Waiters) == 0
		})
	}
}

// TestTwoMastersDown: without a majority nothing is granted, that is said at once, and nothing is
// left when they are back.
func TestTwoMastersDown(t *testing.T) {
	for _, fault := range faults() {
		t.Run(fault.name, func(t *testing.T) {
			servers := startRedis(t)
			s := newQuorum(t, redisMembers(t, servers), quorum.WithTimeout(timeout), quorum.WithNames("a", "b", "c"))
			tree := newTree(t)
			held := ask(tree, x("/held"))
			take(t, s, held)
			waits := queue(t, s, ask(tree, x("/held")))
			fault.fail(servers[0])
			fault.fail(servers[1])
			for range 3 {
				began := time.Now()
				_, err := s.Acquire(t.Context(), ask(tree, x("/free")))
				took := time.Since(began)
				var majority *quorum.MajorityError
				if !errors.Is(err, pathlock.ErrUnavailable) || !errors.As(err, &majority) {
					t.Fatalf("without a majority: %v, want ErrUnavailable", err)
				}
				if len(majority.Failed) != 2 || majority.Failed[0].Name != "a" || majority.Failed[1].Name != "b" || majority.Needed != 2 {
					t.Errorf("the error names %+v, want a and b", majority.Failed)
				}
				if took > generous {
					t.Errorf("it took %v, want at most %v", took, generous)
				}
			}
			if err := s.Ping(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
				t.Errorf("Ping: %v, want ErrUnavailable", err)
			}
			<-waits.done
			if !errors.Is(waits.err, pathlock.ErrUnavailable) {
				t.Errorf("who waited is told %v, want ErrUnavailable", waits.err)
			}
			if _, err := s.Renew(t.Context(), tree, []pathlock.Lease{{Owner: held.Owner, For: time.Minute}}); !errors.Is(err, pathlock.ErrUnavailable) {
				t.Errorf("Renew: %v, want ErrUnavailable", err)
			}
			if err := s.Release(t.Context(), tree, held.Owner, held.Grant); !errors.Is(err, pathlock.ErrUnavailable) {
				t.Errorf("Release: %v, want ErrUnavailable", err)
			}
			fault.end(servers[0])
			fault.end(servers[1])
			again := ask(tree, x("/held"))
			again.Wait = generous
			take(t, s, again)
			release(t, s, again)
			requireEmpty(t, s, tree, servers)
		})
	}
}

// double sets up the classical accident: one owner has its grant from the first two members, and
// the second of these is killed. It returns both processes, and the first one's link to the third
// member.
func double(t *testing.T, lease time.Duration) (first, second *quorum.Store, servers []*testredis.Server, third *link, held pathlock.Acquisition) {
	servers = startRedis(t)
	// The one process does not reach the third member, and the other does not reach the first.
	links1, members1 := links(redisMembers(t, servers))
	links2, members2 := links(redisMembers(t, servers))
	links1[2].set(refusing)
	links2[0].set(refusing)
	first = newQuorum(t, members1, quorum.WithTimeout(timeout))
	second = newQuorum(t, members2, quorum.WithTimeout(timeout))
	held = ask(newTree(t), x("/a"))
	held.Lease = lease
	take(t, first, held)
	if _, err := second.Acquire(t.Context(), ask(held.Tree, x("/a"))); !errors.Is(err, pathlock.ErrConflict) {
		t.Fatalf("before the accident: %v, want a conflict", err)
	}
	servers[1].Kill()
	return first, second, servers, links1[2], held
}

// TestRestartedAfterALease: a member that restarts without its data lets nobody in too early if it
// was away for longer than the longest lease.
func TestRestartedAfterALease(t *testing.T) {
	const lease = time.Second
	first, second, servers, _, held := double(t, lease)
	over := time.After(lease)
	lost, err := first.Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: lease}})
	if !errors.Is(err, pathlock.ErrUnavailable) || len(lost) > 0 {
		t.Errorf("Renew while a member is down and another cannot be reached: lost %v, %v; want ErrUnavailable", lost, err)
	}
	if _, err := second.Acquire(t.Context(), ask(held.Tree, x("/a"))); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("while the member is down: %v, want ErrUnavailable", err)
	}
	<-over // the first owner believes in its lock no longer
	servers[1].Start()
	other := ask(held.Tree, x("/a"))
	other.Wait = generous
	take(t, second, other)
	if err := first.Release(t.Context(), held.Tree, held.Owner, held.Grant); err == nil {
		t.Error("the first owner releases what it has lost without an error")
	}
}

// TestRestartedEmptyOneAfterTheOther: renewals do not bring back what a member has lost, so that a
// hold ends when a majority of the members have been restarted in its time.
func TestRestartedEmptyOneAfterTheOther(t *testing.T) {
	servers := startRedis(t)
	s := newQuorum(t, redisMembers(t, servers), quorum.WithTimeout(timeout))
	held := ask(newTree(t), x("/a"))
	take(t, s, held)
	renew := func() ([]pathlock.Owner, error) {
		return s.Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: time.Minute}})
	}
	restart := func(i int) {
		servers[i].Kill()
		servers[i].Start()
		client := redisstore.New(servers[i].Client())
		if err := client.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	restart(2)
	if lost, err := renew(); err != nil || len(lost) > 0 {
		t.Fatalf("after one restart: lost %v, %v", lost, err)
	}
	restart(1)
	testserver.Await(t, "the loss is reported", func() bool {
		lost, err := renew()
		return err == nil && len(lost) == 1
	})
}
