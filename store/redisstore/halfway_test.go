package redisstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// TestScriptsFailHalfway: a script that fails is not rolled back. Whichever of its commands fails,
// what it leaves is a whole table, or none: those who held hold, or learn at their next renewal that
// they do not. What failed can be done again, and nothing stays when the leases have ended.
func TestScriptsFailHalfway(t *testing.T) {
	server := startServer(t)
	s := server.store()
	failing := newScripts()
	for _, sc := range []*lua.Script{
		&failing.acquire, &failing.release, &failing.withdraw, &failing.renew, &failing.transfer, &failing.force,
	} {
		*sc = lua.NewScript(failAtCommand(t, sc.Source))
	}

	const lease = 3 * time.Second
	var trees []pathlock.Tree
	failures := 0
	for _, history := range halfways {
		for k := 1; ; k++ {
			h := &halfway{t: t, s: s, tree: newTree(t), lease: lease, held: map[string]pathlock.Acquisition{}}
			trees = append(trees, h.tree)
			h.takes("bystander", ix("/elsewhere"), x("/elsewhere/z"))
			history.before(h)
			if err := s.client.Set(t.Context(), failAtKey, k, 0).Err(); err != nil {
				t.Fatal(err)
			}
			h.scripts = &failing
			err := history.then(h)
			h.scripts = nil
			if err != nil && !strings.Contains(err.Error(), "fails here") {
				t.Fatalf("%s, command %d: %v", history.name, k, err)
			}
			if left, err := s.client.Del(t.Context(), failAtKey).Result(); err != nil || left > 0 {
				h.must(err)
				break // there are not so many commands
			}
			failures++
			h.check(fmt.Sprintf("%s, command %d", history.name, k), func() error { return history.then(h) })
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d scripts failed", failures)

	time.Sleep(lease + 10*time.Millisecond) // all at once: the leases are the server's
	for _, tree := range trees {
		visit(t, s, tree)
		if left := keysLeft(t, s, tree); len(left) > 1 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// failAtKey says which command of a script fails. The one that does deletes it.
const failAtKey = "fail-at"

// failAtCommand changes a script so that one of its commands fails.
func failAtCommand(t *testing.T, source string) string {
	t.Helper()
	const before = "local call = redis.call\n"
	if !strings.Contains(source, before) {
		t.Fatal("the scripts call Redis by another name")
	}
	return strings.Replace(source, before, `local raw, count = redis.call, 0
local fail = tonumber(raw('GET', '`+failAtKey+`'))
local function call(...)
  count = count + 1
  if count == fail then raw('DEL', '`+failAtKey+`') error('fails here') end
  return raw(...)
end
`, 1)
}

// halfways are what is there, and what is done then.
var halfways = []struct {
	name   string
	before func(*halfway)
	then   func(*halfway) error
}{
	{"an acquisition beside the only lock", func(h *halfway) { h.alone(x("/a")) }, func(h *halfway) error { return h.asks("b", 0, x("/b")) }},
	{"a request that is queued behind the only lock", func(h *halfway) { h.alone(x("/a")) }, func(h *halfway) error { return h.asks("b", long, x("/a")) }},
	{"a first acquisition", func(h *halfway) { h.alone(x("/a")); h.must(h.releases("a")) }, func(h *halfway) error { return h.asks("b", 0, x("/b")) }},
	{"a release of the only lock", func(h *halfway) { h.alone(x("/a")) }, func(h *halfway) error { return h.releases("a") }},
	{"a renewal of the only lock", func(h *halfway) { h.alone(x("/a")) }, func(h *halfway) error { return h.renews("a") }},
	{"a transfer of the only lock", func(h *halfway) { h.alone(x("/a")) }, func(h *halfway) error { return h.transfers("b") }},
	{"an acquisition", func(h *halfway) { h.takes("a", x("/a")) }, func(h *halfway) error { return h.asks("b", 0, x("/b")) }},
	{"a refusal", func(h *halfway) { h.takes("a", x("/a")) }, func(h *halfway) error { return h.asks("b", 0, x("/a")) }},
	{"a release", func(h *halfway) { h.takes("a", x("/a")) }, func(h *halfway) error { return h.releases("a") }},
	{"a further acquisition", func(h *halfway) { h.takes("a", x("/a")) }, func(h *halfway) error { return h.asks("a", 0, x("/b")) }},
	{"a transfer", func(h *halfway) { h.takes("a", x("/a")) }, func(h *halfway) error { return h.transfers("b") }},
	{"a transfer with a request that waits", func(h *halfway) {
		h.takes("a", x("/a"))
		h.takes("b", x("/b"))
		h.queues("a", x("/b"))
	}, func(h *halfway) error { return h.transfers("c") }},
	{"a release that lets one in", func(h *halfway) { h.contended() }, func(h *halfway) error { return h.releases("a") }},
	{"a release that lets many in", func(h *halfway) {
		h.takes("a", x("/a"))
		for i := range 12 {
			h.queues(fmt.Sprint("w", i), x(fmt.Sprint("/a/", i)))
		}
	}, func(h *halfway) error { return h.releases("a") }},
	{"a release to the only one who waits", func(h *halfway) { h.alone(x("/a")); h.queues("w1", x("/a")) }, func(h *halfway) error { return h.releases("a") }},
	{"a force release", func(h *halfway) { h.contended() }, func(h *halfway) error { return h.forces("a") }},
	{"a heartbeat", func(h *halfway) { h.contended() }, func(h *halfway) error { return h.asksAgain("w1") }},
	{"a renewal among waiters", func(h *halfway) { h.contended() }, func(h *halfway) error { return h.renews("a") }},
	{"a request that comes to wait", func(h *halfway) { h.contended() }, func(h *halfway) error { return h.asks("n", long, x("/a")) }},
	{"a conversion that comes to wait", func(h *halfway) { h.contended() }, func(h *halfway) error { return h.asks("b", long, x("/a/b")) }},
	{"a withdrawal", func(h *halfway) { h.contended() }, func(h *halfway) error { return h.withdraws("w1") }},
	{"a withdrawal before the request", func(h *halfway) { h.takes("a", x("/a")); h.held["n"] = h.req("n", x("/n")) }, func(h *halfway) error { return h.withdraws("n") }},
	{"an apart acquisition", func(h *halfway) { h.takes("a", x("/a")) }, func(h *halfway) error { return h.asksApart("a", x("/b")) }},
	{"a renewal of an apart grant", func(h *halfway) { h.takesApart() }, func(h *halfway) error { return h.renews("a") }},
	{"a release of an apart grant", func(h *halfway) { h.takesApart() }, func(h *halfway) error { return h.releases("a") }},
	{"a release of an apart grant that is the last", func(h *halfway) {
		h.takes("a", x("/a"))
		first := h.held["a"]
		h.must(h.asksApart("a", x("/b")))
		own := h.held["a"]
		h.held["a"] = first
		h.must(h.releases("a"))
		h.held["a"] = own
	}, func(h *halfway) error { return h.releases("a") }},
	{"a transfer of an apart grant", func(h *halfway) { h.takesApart() }, func(h *halfway) error { return h.transfers("b") }},
	{"a force release of an apart grant", func(h *halfway) { h.takesApart() }, func(h *halfway) error { return h.forces("a") }},
	{"an apart lease that has ended", func(h *halfway) {
		h.takesApart()
		h.queues("w1", x("/b"))
		own := apartMember("a", h.held["a"].Grant)
		h.must(h.s.client.ZAdd(h.t.Context(), h.s.keys.of(h.tree)[1], redis.Z{Score: 1, Member: own}).Err())
	}, func(h *halfway) error { return h.proceeds() }},
	{"a gate that is asked for", func(h *halfway) { h.takes("a", x("/a")) }, func(h *halfway) error { return h.asksGate("g") }},
	{"a gate that is withdrawn", func(h *halfway) { h.takes("a", x("/a")); h.must(h.asksGate("g")); h.queues("n", x("/n")) }, func(h *halfway) error { return h.withdraws("g") }},
	{"a lease that has ended", func(h *halfway) {
		h.takes("a", x("/a"))
		h.queues("w1", x("/a"))
		h.must(h.s.client.ZAdd(h.t.Context(), h.s.keys.of(h.tree)[1], redis.Z{Score: 1, Member: "oa"}).Err())
	}, func(h *halfway) error { return h.proceeds() }},
}

// halfway is one history in a tree. Owners go by short names, with one request each that counts.
type halfway struct {
	t       *testing.T
	s       *Store
	tree    pathlock.Tree
	lease   time.Duration
	scripts *scripts
	held    map[string]pathlock.Acquisition
	sure    []string // those whom the failed script is not about
	losses  int      // how many of them have lost what they held
}

func (h *halfway) run() *scripts {
	if h.scripts != nil {
		return h.scripts
	}
	return &h.s.scripts
}

func (h *halfway) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *halfway) req(owner string, claims ...pathlock.Claim) pathlock.Acquisition {
	req := ask(h.tree, claims...)
	req.Owner, req.Lease = pathlock.Owner(owner), h.lease
	return req
}

func (h *halfway) send(req pathlock.Acquisition, wait time.Duration) (lua.Reply, error) {
	return h.run().acquire.Ask(h.t.Context(), h.s.runner, h.s.keys.of(h.tree), acquisition(req, wait)...)
}

// alone has owner a be the only one in the tree.
func (h *halfway) alone(claims ...pathlock.Claim) {
	h.must(h.releases("bystander"))
	delete(h.held, "bystander")
	h.sure = nil
	h.takes("a", claims...)
	h.sure = nil
}

func (h *halfway) takes(owner string, claims ...pathlock.Claim) {
	h.t.Helper()
	req := h.req(owner, claims...)
	got, err := h.send(req, 0)
	if err != nil || got.Status != "granted" {
		h.t.Fatalf("%s: %v, error %v; want a grant", owner, got, err)
	}
	h.held[owner] = req
	if owner == "bystander" {
		h.sure = append(h.sure, owner)
	}
}

func (h *halfway) queues(owner string, claims ...pathlock.Claim) {
	h.t.Helper()
	req := h.req(owner, claims...)
	got, err := h.send(req, long)
	if err != nil || got.Status != "queued" {
		h.t.Fatalf("%s: %v, error %v; want it queued", owner, got, err)
	}
	if _, holds := h.held[owner]; !holds {
		h.held[owner] = req
	}
}

// contended: a holds /a, b holds /b, and w1, w2 and b wait for /a.
func (h *halfway) contended() {
	h.takes("a", x("/a"))
	h.takes("b", x("/b"))
	h.queues("w1", x("/a"))
	h.queues("w2", x("/a"))
	h.queues("b", x("/a"))
}

func (h *halfway) asks(owner string, wait time.Duration, claims ...pathlock.Claim) error {
	_, err := h.send(h.req(owner, claims...), wait)
	return err
}

// asksApart asks for a further grant of an owner, with a lease of its own. It is the one that
// counts then.
func (h *halfway) asksApart(owner string, claims ...pathlock.Claim) error {
	req := h.held[owner]
	if !req.Apart {
		req = h.req(owner, claims...)
		req.Held, req.Apart = true, true
		h.held[owner] = req
	}
	_, err := h.send(req, 0)
	return err
}

// takesApart: a holds /a, and /b by a grant apart.
func (h *halfway) takesApart() {
	h.takes("a", x("/a"))
	h.must(h.asksApart("a", x("/b")))
}

func (h *halfway) asksAgain(owner string) error {
	_, err := h.send(h.held[owner], long)
	return err
}

func (h *halfway) asksGate(owner string) error {
	req := h.req(owner)
	req.Gate, req.Claims = true, nil
	h.held[owner] = req
	_, err := h.send(req, long)
	return err
}

func (h *halfway) releases(owner string) error {
	_, err := h.run().release.Ask(h.t.Context(), h.s.runner, h.s.keys.of(h.tree), owner, string(h.held[owner].Grant))
	return err
}

func (h *halfway) withdraws(owner string) error {
	_, err := h.run().withdraw.Ask(h.t.Context(), h.s.runner, h.s.keys.of(h.tree), owner, string(h.held[owner].Grant), "500")
	return err
}

func (h *halfway) forces(owner string) error {
	_, err := h.run().force.Ask(h.t.Context(), h.s.runner, h.s.keys.of(h.tree), owner)
	return err
}

func (h *halfway) proceeds() error {
	_, err := h.run().force.Ask(h.t.Context(), h.s.runner, h.s.keys.of(h.tree), "nobody")
	return err
}

func (h *halfway) renews(owner string) error {
	_, err := h.run().renew.Ask(h.t.Context(), h.s.runner, h.s.keys.of(h.tree), owner, h.apart(owner), milliseconds(h.lease))
	return err
}

// apart returns the id of an owner's grant, if it is apart.
func (h *halfway) apart(owner string) string {
	if req := h.held[owner]; req.Apart {
		return string(req.Grant)
	}
	return ""
}

// transfers has a give everything to another.
func (h *halfway) transfers(to string) error {
	_, err := h.run().transfer.Ask(h.t.Context(), h.s.runner, h.s.keys.of(h.tree), "a", to, "0")
	return err
}

// check requires that the table can be used after a script has failed.
func (h *halfway) check(what string, again func() error) {
	h.t.Helper()
	ctx := h.t.Context()
	if _, err := h.s.Snapshot(ctx, h.tree); err != nil {
		h.t.Errorf("%s: snapshot: %v", what, err)
	}
	for _, owner := range h.sure {
		leases := []pathlock.Lease{{Owner: pathlock.Owner(owner), For: h.lease}}
		lost, err := h.s.Renew(ctx, h.tree, leases)
		if err != nil {
			h.t.Errorf("%s: renew: %v", what, err)
		}
		if len(lost) > 0 {
			h.losses++
			continue
		}
		intruder := h.req("intruder", h.held[owner].Claims...)
		if got, err := h.send(intruder, 0); err != nil || got.Status != "busy" {
			h.t.Errorf("%s: what %s holds: %v, error %v; want it busy", what, owner, got, err)
		}
	}
	if err := again(); err != nil {
		h.t.Errorf("%s: again: %v", what, err)
	}
	visit(h.t, h.s, h.tree)
	for _, fault := range inconsistencies(ctx, h.t, h.s, h.tree) {
		if !strings.HasPrefix(fault, loneDeadline) {
			h.t.Errorf("%s: inconsistent: %s", what, fault)
		}
	}
	if h.t.Failed() {
		return
	}
	// Of whom a script has failed, and all others, exclusion still holds: nodes and records agree,
	// or the above has said so.
	if _, err := h.s.Acquire(ctx, h.req("late", x("/late"))); err != nil && !errors.Is(err, pathlock.ErrConflict) {
		h.t.Errorf("%s: afterwards: %v", what, err)
	}
}
