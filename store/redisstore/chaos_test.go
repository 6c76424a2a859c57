package redisstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// endLease makes an owner's lease, and its places in the queue, end.
var endLease = redis.NewScript(`
redis.call('ZADD', KEYS[2], 'XX', '1', 'o' .. ARGV[1])
local tickets = redis.call('HGET', KEYS[1], 'r' .. ARGV[1]) or ''
for at = 1, #tickets, 16 do redis.call('ZADD', KEYS[2], 'XX', '1', 'w' .. string.sub(tickets, at, at + 15)) end
return '0'`)

// TestChaos makes random requests of a tree, and checks the whole table after each: requests of all
// kinds, some made twice, releases, withdrawals, renewals, leases that end, a gate that another
// program takes, and force.
func TestChaos(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			c := chaos{t: t, rng: rand.New(rand.NewPCG(seed, 11)), store: newStore(t), tree: testlock.Tree(t)}
			for c.step = range 250 {
				what := c.live()
				requireConsistent(t, c.store, c.tree)
				if t.Failed() {
					t.Fatalf("step %d: %s", c.step, what)
				}
			}
			c.end()
		})
	}
}

// TestScriptsFailHalfway: a script that fails is not rolled back. Whichever of its commands fails,
// the next script finds a whole table, or leaves none.
func TestScriptsFailHalfway(t *testing.T) {
	t.Parallel()
	testserver.Redis(t)
	failures := 0
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			c := chaos{t: t, rng: rand.New(rand.NewPCG(seed, 12)), store: newStore(t), tree: testlock.Tree(t), failing: true}
			at := c.store.keys.base(c.tree) + ":fail-at"
			sc := &c.store.scripts
			for _, each := range []*script{&sc.acquire, &sc.release, &sc.withdraw, &sc.renew, &sc.transfer, &sc.force} {
				*each = newScript(failAtCommand(t, each.source, at))
			}
			for c.step = range 250 {
				c.done(c.store.client.Set(t.Context(), at, 1+c.rng.IntN(25), long).Err())
				what := c.live()
				if c.store.client.Del(t.Context(), at).Val() == 0 {
					failures++
				}
				if c.failed.Owner != "" { // the store takes back what has failed
					c.done(c.store.withdraw(t.Context(), keyOf(c.failed), 0))
					c.failed = pathlock.Acquisition{}
				}
				visit(t, c.store, c.tree)
				for _, fault := range inconsistencies(t.Context(), t, c.store, c.tree) {
					if !strings.HasPrefix(fault, loneDeadline) && !strings.HasPrefix(fault, keysApart) {
						t.Fatalf("step %d: %s: inconsistent: %s", c.step, what, fault)
					}
				}
			}
		})
	}
	if failures < 500 {
		t.Errorf("%d scripts failed: the test proves nothing", failures)
	}
}

const failure = "fails here"

// failAtCommand changes a script so that one of its commands fails, the one whose number the key
// holds. The key is deleted then.
func failAtCommand(t *testing.T, source, key string) string {
	t.Helper()
	const before = "local call = redis.call\n"
	if !strings.Contains(source, before) {
		t.Fatal("the scripts call Redis by another name")
	}
	return strings.Replace(source, before, `local raw, count = redis.call, 0
local fail = tonumber(raw('GET', '`+key+`') or nil)
local function call(...)
  count = count + 1
  if count == fail then raw('DEL', '`+key+`') error('`+failure+`') end
  return raw(...)
end
`, 1)
}

type chaos struct {
	t     *testing.T
	rng   *rand.Rand
	store *store
	tree  pathlock.Tree
	step  int
	// failing is set if scripts may fail, and failed is the request whose script did.
	failing bool
	failed  pathlock.Acquisition

	owners, eager int // how many owners there are at present, and how many of ten requests wait
	made          []pathlock.Acquisition
	waits         map[pathlock.GrantID]time.Duration
}

// live makes one step, and says which.
func (c *chaos) live() string {
	if c.step%25 == 0 {
		c.owners, c.eager = 1+c.rng.IntN(6), 4*c.rng.IntN(2)
		c.openGate()
		c.made, c.waits = nil, map[pathlock.GrantID]time.Duration{}
		for i := range 6 {
			c.done(c.store.ForceRelease(c.t.Context(), c.tree, owner(i)))
		}
	}
	n := c.rng.IntN(100)
	anybody := owner(c.rng.IntN(c.owners))
	switch {
	case n < 42 || len(c.made) == 0:
		req := c.request(anybody)
		return fmt.Sprintf("acquire %+v: %v", req, c.ask(req))
	case n < 47:
		req := c.made[c.rng.IntN(len(c.made))]
		first, second := c.ask(req), c.ask(req)
		if !c.failing && (first.status != second.status || first.status == "granted" && first.number(0) != second.number(0)) {
			c.t.Errorf("answered with %v, and then with %v", first, second)
		}
		return fmt.Sprintf("acquire again %+v", req)
	case n < 84:
		i := c.rng.IntN(len(c.made))
		req := c.made[i]
		if c.waits[req.Grant] == 0 {
			c.made = slices.Delete(c.made, i, i+1)
		}
		c.done(c.store.Release(c.t.Context(), c.tree, req.Owner, req.Grant))
		return fmt.Sprintf("release %+v", req)
	case n < 88:
		req := c.made[c.rng.IntN(len(c.made))]
		c.done(c.store.withdraw(c.t.Context(), keyOf(req), time.Duration(c.rng.IntN(2))*age))
		return fmt.Sprintf("withdraw %+v", req)
	case n < 92:
		lease := pathlock.Lease{Owner: anybody, For: time.Duration(1+c.rng.IntN(4)) * age}
		if req := c.made[c.rng.IntN(len(c.made))]; req.Apart {
			lease.Owner, lease.Grant = req.Owner, req.Grant
		}
		_, err := c.store.Renew(c.t.Context(), c.tree, []pathlock.Lease{lease})
		c.done(err)
		return fmt.Sprintf("renew %+v", lease)
	case n < 94:
		c.done(c.store.ForceRelease(c.t.Context(), c.tree, anybody))
		return fmt.Sprint("force ", anybody)
	case n < 96:
		move := pathlock.Transfer{Tree: c.tree, From: anybody, To: owner(c.rng.IntN(c.owners)), Lease: time.Duration(c.rng.IntN(2)) * age}
		if _, err := c.store.Transfer(c.t.Context(), move); !errors.Is(err, pathlock.ErrLost) && !errors.Is(err, pathlock.ErrInvalidRequest) {
			c.done(err)
		}
		return fmt.Sprintf("transfer %+v", move)
	case n < 98:
		// The script of the next step clears away what has ended.
		c.done(endLease.Run(c.t.Context(), c.store.client, c.store.keys.of(c.tree), string(anybody)).Err())
		return c.live()
	case n < 99:
		c.done(c.store.client.SetNX(c.t.Context(), c.store.keys.gate(c.tree), foreign, long).Err())
		return "another program takes the gate"
	default:
		c.openGate()
		return "another program gives back the gate"
	}
}

// age is the unit of the leases and waits in this test, which does not take so long.
const age = 1000 * time.Second

// ask sends one request. A request that is queued stays so: nobody listens.
func (c *chaos) ask(req pathlock.Acquisition) reply {
	args := acquisition(req, c.waits[req.Grant])
	got, err := c.store.scripts.acquire.ask(c.t.Context(), c.store.client, c.store.keys.about(keyOf(req)), args...)
	if err != nil {
		c.failed = req
	}
	c.done(err)
	return got
}

// done requires that a command had no error, or found nothing, or failed as it was meant to.
func (c *chaos) done(err error) {
	c.t.Helper()
	if err == nil || errors.Is(err, pathlock.ErrNotHeld) || c.failing && strings.Contains(err.Error(), failure) {
		return
	}
	c.t.Fatal(err)
}

// foreign is the gate key of another program.
const foreign = "0123456789012345678901 another program"

// openGate has the other program give back the gate, if it has it.
func (c *chaos) openGate() {
	if key := c.store.keys.gate(c.tree); c.store.client.Get(c.t.Context(), key).Val() == foreign {
		c.done(c.store.client.Del(c.t.Context(), key).Err())
	}
}

// request returns a new request.
func (c *chaos) request(by pathlock.Owner) pathlock.Acquisition {
	req := testlock.Ask(c.tree)
	req.Owner = by
	for range 1 + c.rng.IntN(3) {
		p, narrow := pathlock.Root(), c.rng.IntN(4) > 0 // most leave room for others
		for range max(c.rng.IntN(4), int(flag(narrow)[0]-'0')) {
			p, _ = p.Child(string(rune('a' + c.rng.IntN(3))))
		}
		req.Claims = append(req.Claims, pathlock.Claim{Path: p, Mode: pathlock.Modes()[c.rng.IntN(5)]})
	}
	req.Claims = pathlock.Normalize(req.Claims...)
	req.Gate = c.rng.IntN(20) == 0
	req.Held = c.rng.IntN(4) == 0
	req.Apart = req.Held && c.rng.IntN(2) == 0
	req.Lease = time.Duration(1+c.rng.IntN(4)) * age
	c.made = append(c.made, req)
	if c.rng.IntN(10) < c.eager {
		c.waits[req.Grant] = time.Duration(1+c.rng.IntN(4)) * age
	}
	return req
}

// end takes everything away, after which nothing is left.
func (c *chaos) end() {
	c.openGate()
	for i := range 6 {
		c.done(c.store.ForceRelease(c.t.Context(), c.tree, owner(i)))
	}
	requireFree(c.t, c.store, c.tree)
}

func owner(i int) pathlock.Owner { return pathlock.Owner(fmt.Sprint("owner ", i)) }
