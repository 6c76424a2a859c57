package zkstore

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testnet"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/internal/test/testzk"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// manyClaims returns claims on random names.
func manyClaims(n int) []pathlock.Claim {
	claims := make([]pathlock.Claim, n)
	for i := range claims {
		claims[i] = x("/" + rand.Text())
	}
	return claims
}

func TestCut(t *testing.T) {
	t.Parallel()
	server := testzk.Start(t)
	testlock.Cut(t, server.Addr, func(addr string) pathlock.Store { return newStore(t, addr) }, newStore(t, server.Addr))
}

// The store goes on with a server that has forgotten everything, and locks are lost.
func TestRestartEmpty(t *testing.T) {
	t.Parallel()
	server := testzk.Start(t)
	s := newStore(t, server.Addr)
	held := testlock.Ask(testlock.Tree(t), x("/n"))
	testlock.Take(t, s, held)
	server.Kill()
	server.Forget()
	server.Start()
	testserver.Await(t, "the store serves again", func() bool { return s.Ping(t.Context()) == nil })
	lost, err := s.Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: testlock.Long}})
	if err != nil || len(lost) != 1 {
		t.Errorf("renew: %v are lost, error %v", lost, err)
	}
	testlock.Take(t, s, held)
}

// unavailable requires that the store says that it cannot serve.
func unavailable(t *testing.T, s *store) {
	t.Helper()
	tree := testlock.Tree(t)
	_, acquired := s.Acquire(t.Context(), testlock.Ask(tree, x("/m")))
	_, snapshot := s.Snapshot(t.Context(), tree)
	_, trees := s.Trees(t.Context())
	for what, err := range map[string]error{
		"acquire": acquired, "snapshot": snapshot, "trees": trees, "ping": s.Ping(t.Context()),
		"release": s.Release(t.Context(), tree, "o", "g"),
	} {
		if !errors.Is(err, pathlock.ErrUnavailable) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v, want ErrUnavailable without the password", what, err)
		}
	}
}

func TestServer_missing(t *testing.T) {
	t.Parallel()
	s := newStore(t, "127.0.0.1:1", WithTimeout(200*time.Millisecond), WithDigest("user", "sesame"))
	unavailable(t, s)
	testerr.None(t, s.Close(t.Context()))
	unavailable(t, s)
	testerr.Is(t, "ping of a closed store", s.Ping(t.Context()), pathlock.ErrClosed)
}

// Znodes that a user has made are that user's alone. The user is known again on a new connection.
func TestDigest(t *testing.T) {
	t.Parallel()
	server := testzk.Start(t)
	open := func(user, addr string) *store {
		s, err := Open("zk://" + user + addr + "/locks")
		testerr.Must(t, err)
		t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
		return s.(*store)
	}
	proxy := testnet.StartProxy(t, server.Addr, 0)
	s := open("ann:sesame@", proxy.Addr())
	held := testlock.Ask(testlock.Tree(t), x("/n"))
	testlock.Take(t, s, held)
	for _, stranger := range []string{"", "bob:sesame@", "ann:simsim@"} {
		unavailable(t, open(stranger, server.Addr))
	}
	proxy.CutAt(1, true)
	testlock.Holders(t, s, held.Tree, 1)
	if !proxy.WasCut() {
		t.Error("the connection was not cut")
	}
	testlock.Release(t, s, held)
}

// Locks outlive the death of the leader, and of a server that hangs, with all waiters in their
// places. A server that has lost the others serves nobody, and the store says so.
func TestEnsemble(t *testing.T) {
	t.Parallel()
	e := testzk.StartEnsemble(t)
	for _, tt := range []struct {
		name  string
		fault func() (heal func())
	}{
		{"a follower is paused", func() func() { s := e.Follower(); s.Pause(); return s.Resume }},
		{"the leader is paused", func() func() { s := e.Leader(); s.Pause(); return s.Resume }},
		{"the leader is killed", func() func() { s := e.Leader(); s.Kill(); return s.Start }},
		{"all are killed in turn", func() func() {
			for _, s := range e.Servers {
				s.Kill()
				s.Start()
			}
			return func() {}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stores []pathlock.Store // of which each begins with a server of its own
			for _, server := range e.Servers {
				stores = append(stores, newStore(t, server.Addr+","+e.Hosts(), WithTimeout(3*time.Second)))
			}
			testlock.Outlive(t, stores, tt.fault)
		})
	}
	s, impatient := newStore(t, e.Hosts()), newStore(t, e.Hosts(), WithTimeout(time.Second))
	held := testlock.Ask(testlock.Tree(t), x("/n"))
	testlock.Take(t, s, held)
	testserver.Await(t, "both are connected", func() bool { return impatient.Ping(t.Context()) == nil })
	e.Servers[0].Kill()
	e.Servers[1].Kill()
	testserver.Await(t, "the last server notices", func() bool { return e.Servers[2].Mode() == "" })
	unavailable(t, impatient)
	e.Servers[0].Start()
	testserver.Await(t, "the store serves again", func() bool { return s.Ping(t.Context()) == nil })
	testlock.Release(t, s, held)
}

// fill gives an owner as many grants as it may have, in one update.
func fill(t *testing.T, s *store, tree pathlock.Tree, owner pathlock.Owner) {
	t.Helper()
	for done := false; !done; {
		var err error
		done, err = s.backend.Update(t.Context(), tree, true, func(is ticketstore.State) ticketstore.Changes {
			c := ticketstore.Changes{Fence: max(is.Fence, is.Floor)}
			for i := range mostOfOwner {
				c.Fence++
				grant := ticketstore.Ticket{State: ticketstore.Granted}
				grant.Place, grant.Fence, grant.Owner, grant.Grant = c.Fence, c.Fence, owner, pathlock.GrantID(strconv.Itoa(i))
				grant.Claims, grant.Lease, grant.Since = pathlock.Normalize(pathlock.IS(pathlock.Root())), testlock.Long, is.Now
				grant.Until, grant.OwnerUntil = is.Now.Add(testlock.Long), is.Now.Add(testlock.Long)
				c.Put = append(c.Put, grant)
			}
			return c
		})
		testerr.Must(t, err)
	}
}

// A request beyond a tree's limits is refused before it blocks anybody: whatever an owner has, and
// however full the tree is, leases are renewed, holds transferred, and waiters let in.
func TestLimits(t *testing.T) {
	t.Parallel()
	s, tree := newStore(t, testzk.Start(t).Addr), testlock.Tree(t)
	owners := []pathlock.Owner{"first", "second"}
	for _, owner := range owners {
		fill(t, s, tree, owner)
	}
	more := testlock.Ask(tree, x("/a"))
	more.Owner, more.Held = owners[0], true
	if _, err := s.Acquire(t.Context(), more); !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), "1000 grants") {
		t.Errorf("one grant more than an owner may have: %v", err)
	}
	held := testlock.Ask(tree, x("/held"))
	testlock.Take(t, s, held)
	var large []pathlock.Acquisition
	for {
		req := testlock.Ask(tree, manyClaims(3000)...)
		if _, err := s.Acquire(t.Context(), req); err != nil {
			if !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), "all requests in the tree") {
				t.Errorf("one grant more than a tree may have: %v", err)
			}
			break
		}
		large = append(large, req)
	}
	waits := testlock.Queue(t, s, testlock.Ask(tree, x("/held")))
	second := testlock.Ask(tree, x("/held"))
	second.Wait = testlock.Long
	testerr.Is(t, "one that waits more than a tree may have", testerr.Of(s.Acquire(t.Context(), second)), pathlock.ErrQueueFull)
	for _, owner := range owners {
		testlock.Keeps(t, s, pathlock.Acquisition{Tree: tree, Owner: owner})
		_, err := s.Transfer(t.Context(), pathlock.Transfer{Tree: tree, From: owner, To: "d-" + owner, Lease: testlock.Long})
		testerr.None(t, err)
	}
	testlock.Release(t, s, held)
	waits.Granted()
	for _, req := range large {
		testlock.Release(t, s, req)
	}
}

// Each waiter has one watch, and a release costs the same number of requests, however many wait.
func TestWaiters_areNoHerd(t *testing.T) {
	t.Parallel()
	const waiters, turns, most = 100, 20, 10 // requests for a grant: 3, and pings where it takes long
	server := testzk.Start(t)
	proxy := testnet.StartProxy(t, server.Addr, 0)
	serve := testlock.Crowd(t, []pathlock.Store{newStore(t, proxy.Addr())}, waiters)
	testserver.Await(t, "all watches stand", func() bool { return server.Count("zk_watch_count") == waiters })
	before := proxy.Messages()
	serve(turns)
	if n := proxy.Messages() - before; n > most*turns {
		t.Errorf("%d requests for %d grants among %d waiters, want at most %d", n, turns, waiters, most*turns)
	}
}

// A process far from ZooKeeper asks for the time at the beginning, and no more with each operation.
func TestNow_farAway(t *testing.T) {
	t.Parallel()
	line := testnet.StartProxy(t, testzk.Start(t).Addr, 30*time.Millisecond)
	s, req := newStore(t, line.Addr()), testlock.Ask(testlock.Tree(t), x("/n"))
	testlock.Take(t, s, req)
	before := line.Messages()
	testlock.Release(t, s, req)
	if n := line.Messages() - before; n > 3 {
		t.Errorf("a release took %d requests, want one to read, one to write, and a ping at most", n)
	}
}

// A process far from ZooKeeper gets its turn, though a near one keeps writing.
func TestReserve(t *testing.T) {
	t.Parallel()
	server := testzk.Start(t)
	line := testnet.StartProxy(t, server.Addr, 10*time.Millisecond)
	testlock.Far(t, newStore(t, line.Addr(), WithTimeout(3*time.Second)), newStore(t, server.Addr))
}
