package etcdstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// write writes new tickets, which end after a while, in one update.
func write(t *testing.T, s *store, tree pathlock.Tree, first, n int, lease time.Duration) error {
	_, err := s.backend.Update(t.Context(), tree, false, func(s ticketstore.State) ticketstore.Changes {
		var c ticketstore.Changes
		for i := range n {
			ticket := ticketstore.Ticket{State: ticketstore.Waiting}
			ticket.Place, ticket.Owner = uint64(first+i), pathlock.Owner(fmt.Sprint("owner ", first+i))
			ticket.Until, ticket.WaitUntil = s.Now.Add(lease), s.Now.Add(lease)
			ticket.Grant, ticket.Gate, ticket.Lease, ticket.Since = "g", true, lease, s.Now
			c.Put = append(c.Put, ticket)
		}
		return c
	})
	return err
}

func TestLimits_ofAnUpdate(t *testing.T) {
	t.Parallel()
	_, client := newServer(t, "--max-txn-ops", "20")
	few, many := newStore(t, client, WithMaxTxnOps(20)), newStore(t, client)
	for what, test := range map[string]struct {
		store *store
		n     int
		want  string
	}{
		"as many tickets as may be written": {few, few.backend.Limit(), ""},
		"one too many":                      {few, few.backend.Limit() + 1, "19 tickets"},
		"more than the server takes":        {many, many.backend.Limit(), "--max-txn-ops"},
	} {
		err := write(t, test.store, testlock.Tree(t), 1, test.n, time.Minute)
		if (err == nil) != (test.want == "") || err != nil && (!errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want ErrInvalidRequest with %q", what, err, test.want)
		}
	}
}

// More tickets than one update can delete go in several, if they have ended, and keep nobody out.
func TestLimits_manyThatHaveEnded(t *testing.T) {
	t.Parallel()
	_, client := newServer(t)
	store, tree := newStore(t, client), testlock.Tree(t)
	const portion, portions = 100, 3
	for i := range portions {
		testerr.Must(t, write(t, store, tree, i*portion+1, portion, time.Millisecond))
	}
	for range portions {
		req := testlock.Ask(tree, x("/a"))
		req.Wait = testlock.Patience
		testlock.Take(t, store, req)
		testlock.Release(t, store, req)
	}
	requireNoKeys(t, client)
}

func TestLimits_tooManyBytes(t *testing.T) {
	t.Parallel()
	_, client := newServer(t, "--max-request-bytes", "100000")
	store, tree := newStore(t, client), testlock.Tree(t)
	var claims []pathlock.Claim
	for i := range 2_000 {
		claims = append(claims, x(fmt.Sprintf("/%060d", i)))
	}
	_, err := store.Acquire(t.Context(), testlock.Ask(tree, claims...))
	if !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a request for 2,000 nodes: %v, want what matches ErrInvalidRequest", err)
	}
	testlock.Take(t, store, testlock.Ask(tree, x("/a")))
}

// A full database takes no new locks and renews none. It still releases those that nobody waits
// for.
func TestLimits_fullDatabase(t *testing.T) {
	t.Parallel()
	_, client := newServer(t, "--quota-backend-bytes", "1000000")
	store := newStore(t, client, WithTimeout(time.Second))
	held, wanted := testlock.Ask(testlock.Tree(t), x("/a")), testlock.Ask(testlock.Tree(t), x("/a"))
	testlock.Take(t, store, held)
	testlock.Take(t, store, wanted)
	next := testlock.Ask(wanted.Tree, x("/a"))
	next.Wait = 5 * time.Second
	w := testlock.Queue(t, store, next)
	for i := range 100 {
		if _, err := client.Put(t.Context(), fmt.Sprint("filler ", i), strings.Repeat("x", 100_000)); err != nil {
			break
		}
	}
	_, acquired := store.Acquire(t.Context(), testlock.Ask(testlock.Tree(t), x("/a")))
	_, renewed := store.Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: 2 * testlock.Long}})
	for what, err := range map[string]error{
		"a lock": acquired, "a renewal": renewed, "ping": store.Ping(t.Context()),
		"a release that would let somebody in": store.Release(t.Context(), wanted.Tree, wanted.Owner, wanted.Grant),
	} {
		if !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("%s in a full database: %v, want what matches ErrUnavailable", what, err)
		}
	}
	testlock.Release(t, store, held)
	testerr.Is(t, "a wait in a full database", w.Ends(), pathlock.ErrConflict)
	testlock.Release(t, store, wanted)
}

// All grants of an owner are written together, so an owner may have only so many. They harm nobody
// else: neither the owners that are renewed together, nor the one that lets one of them in.
func TestLimits_manyRequestsOfOneOwner(t *testing.T) {
	t.Parallel()
	_, client := newServer(t, "--max-txn-ops", "20")
	store, tree := newStore(t, client, WithMaxTxnOps(20)), testlock.Tree(t)
	const most = 12
	take := func(owner string, n int) (last pathlock.Acquisition) {
		for i := range n {
			last = testlock.Ask(tree, x(fmt.Sprintf("/%s %d", owner, i)))
			last.Owner = pathlock.Owner(owner)
			testlock.Take(t, store, last)
		}
		return last
	}
	full, other := take("full", most), take("other", most-1)
	lost, err := store.Renew(t.Context(), tree, []pathlock.Lease{{Owner: full.Owner, For: testlock.Long}, {Owner: other.Owner, For: testlock.Long}})
	if err != nil || len(lost) > 0 {
		t.Errorf("the renewal of two owners: %v are lost, error %v", lost, err)
	}
	waits := other
	waits.Grant, waits.Claims = "waits", full.Claims
	w := testlock.Queue(t, store, waits)
	for _, held := range []pathlock.Acquisition{full, other} {
		held.Grant, held.Claims, held.Wait = "one too many", pathlock.Normalize(x("/more")), testlock.Long
		if held.Owner == full.Owner {
			testlock.Release(t, store, full)
			w.Granted()
			testlock.Take(t, store, held)
			held.Grant = "two too many"
		}
		if _, err := store.Acquire(t.Context(), held); !errors.Is(err, pathlock.ErrInvalidRequest) || !strings.Contains(err.Error(), "claim an ancestor") {
			t.Errorf("a request too many: %v, want what matches ErrInvalidRequest and says what to do", err)
		}
	}
}
