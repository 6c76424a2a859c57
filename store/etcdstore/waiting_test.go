package etcdstore

import (
	"bufio"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testetcd"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// Compaction takes away the revisions from which the watches of waiters would be begun again.
func TestCompactionWhileOthersWait(t *testing.T) {
	t.Parallel()
	server, client := newServer(t)
	holder, tree := newStore(t, client), newTree(t)
	line := newLine(t, server.Addr)
	waiting := newStore(t, connect(t, line.Addr(), server.Addr))
	req := request(t, tree, "holder", time.Minute, 0)
	acquire(t, holder, req)
	next := queue(t, waiting, request(t, tree, "next", time.Minute, time.Minute))
	// The watch is cut, and what it would have reported is compacted before it stands again.
	server.Pause()
	line.cut()
	server.Resume()
	release(t, holder, req)
	response, err := client.Put(t.Context(), "other", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Compact(t.Context(), response.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if took := granted(t, next).at.Sub(began); took > 5*time.Second {
		t.Errorf("the waiter is let in after %v", took)
	}
}

// A waiter whose own ticket has gone is told, which etcd's own package does not do.
func TestWaiterWhoseTicketIsGoneIsWoken(t *testing.T) {
	t.Parallel()
	_, client := newServer(t)
	store, tree := newStore(t, client), newTree(t)
	acquire(t, store, request(t, tree, "holder", time.Minute, 0))
	over := queue(t, store, request(t, tree, "next", time.Hour, time.Hour))
	var own string
	state, err := store.backend.View(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, ticket := range state.Tickets {
		if ticket.Owner == "next" {
			own = store.backend.keys.ticket(tree, ticket.Place)
		}
	}
	if _, err := client.Delete(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	// It asks again, and waits in its new place.
	testserver.Await(t, "the waiter is back in the queue", func() bool {
		snapshot, err := store.Snapshot(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		return len(snapshot.Waiters) == 1
	})
	release(t, store, request(t, tree, "holder", time.Minute, 0))
	granted(t, over)
}

// metric returns the sum of the values of a server's metric, of those that have a label.
func metric(t *testing.T, server *testetcd.Server, name, label string) (sum int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server.Addr+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		line := lines.Text()
		if !strings.HasPrefix(line, name+" ") && !strings.HasPrefix(line, name+"{") || !strings.Contains(line, label) {
			continue
		}
		value, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += int(value)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return sum
}

// A queue of waiters in several processes is served one by one. What that costs grows with the
// waiters, and not with their square: nobody hears of anybody else's turn.
func TestNoHerd(t *testing.T) {
	testNoHerd := func(t *testing.T, waiters, processes int) {
		server, client := newServer(t)
		tree := newTree(t)
		var stores []*Store
		for range processes {
			stores = append(stores, newStore(t, connect(t, server.Addr)))
		}
		first := request(t, tree, "first", time.Hour, 0)
		acquire(t, stores[0], first)
		var reqs []pathlock.Acquisition
		var turns []<-chan outcomeOf
		for i := range waiters {
			req := request(t, tree, pathlock.Owner(fmt.Sprint("waiter ", i)), time.Hour, time.Hour)
			reqs = append(reqs, req)
			turns = append(turns, queue(t, stores[i%processes], req))
		}
		testserver.Await(t, "all watches stand", func() bool {
			return metric(t, server, "etcd_debugging_mvcc_watcher_total", "") >= 2*waiters
		})
		events := func() int { return metric(t, server, "etcd_debugging_mvcc_events_total", "") }
		requests := func(method string) func() int {
			return func() int { return metric(t, server, "grpc_server_started_total", `"`+method+`"`) }
		}
		asked, sent := requests("Txn"), func() int {
			return metric(t, server, "etcd_network_client_grpc_sent_bytes_total", "")
		}
		counts := []struct {
			what string
			most float64 // for each waiter
			read func() int
			from int
		}{
			{"events sent to watches", 3, events, events()},
			{"reads and writes", 6, asked, asked()},
			{"bytes", math.Inf(1), sent, sent()},
		}
		began := time.Now()
		release(t, stores[0], first)
		for i, turn := range turns {
			granted(t, turn)
			release(t, stores[i%processes], reqs[i])
		}
		t.Logf("%d waiters were served, each in %v", waiters, time.Since(began)/time.Duration(waiters))
		for _, c := range counts {
			each := float64(c.read()-c.from) / float64(waiters)
			t.Logf("%.1f %s for each of %d waiters", each, c.what, waiters)
			if each > c.most {
				t.Errorf("%.1f %s for each of %d waiters, want at most %.0f", each, c.what, waiters, c.most)
			}
		}
		requireNoKeys(t, client)
	}
	for _, waiters := range []int{50, 500} {
		t.Run(fmt.Sprint(waiters), func(t *testing.T) {
			if waiters > 50 {
				testserver.NotUnderRace(t)
			}
			testNoHerd(t, waiters, 5)
		})
	}
}
