package zkstore

import (
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/testzk"
)

// TestNoHerd: a waiter has one watch, whoever else waits, and a release costs the same number of
// requests, however many wait.
func TestNoHerd(t *testing.T) {
	testserver.NotUnderRace(t)
	// No sign of life falls into the test.
	const lease = 5 * time.Minute
	few, many := 50, 500
	const turns = 20
	if testing.Short() {
		many = 100
	}
	cost := make(map[int]int)
	for _, n := range []int{few, many} {
		server := testzk.Start(t)
		addr, proxy := behind(t, server.Addr)
		// The holder is another process than the waiters, so that these are woken by watches alone.
		holder := newStore(t, server.Addr)
		waiters := newStore(t, addr)
		tree := newTree(t)
		request := func() pathlock.Acquisition {
			req := ask(tree, x("/n"))
			req.Lease, req.Wait = lease, lease
			return req
		}
		held := request()
		take(t, holder, held)
		crowd := make([]*waiting, n)
		for i := range crowd {
			crowd[i] = queue(t, waiters, request())
		}
		testserver.Await(t, "all watches stand", func() bool { return server.Count("zk_watch_count") == n })

		// Those that wait are served one by one. Each release wakes one of them.
		before := proxy.Messages()
		release(t, holder, held)
		crowd[0].granted()
		for i := range turns {
			release(t, waiters, crowd[i].req)
			crowd[i+1].granted()
		}
		testserver.Await(t, "no watch is left of those who were served", func() bool {
			return server.Count("zk_watch_count") == n-turns-1
		})
		cost[n] = proxy.Messages() - before
		t.Logf("%d waiters: %d requests for %d releases and grants", n, cost[n], turns)
	}
	const most = 10 // requests for a release, and for the grant that comes of it
	if cost[few] > most*turns {
		t.Errorf("it costs %d requests each time", cost[few]/turns)
	}
	if cost[many] > cost[few]+cost[few]/10 {
		t.Errorf("among %d waiters it costs %d requests, among %d %d", few, cost[few], many, cost[many])
	}
}
