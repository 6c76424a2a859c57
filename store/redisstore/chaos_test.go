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
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// endLease has an owner's lease, and its places in the queue, end.
var endLease = redis.NewScript(`
local thin = redis.call('GET', KEYS[6])
if thin and struct.unpack('>I4c0', thin) == ARGV[1] then redis.call('DEL', KEYS[6]) end
redis.call('ZADD', KEYS[2], 'XX', '1', 'o' .. ARGV[1])
local tickets = redis.call('HGET', KEYS[1], 'r' .. ARGV[1]) or ''
for at = 1, #tickets, 16 do redis.call('ZADD', KEYS[2], 'XX', '1', 'w' .. string.sub(tickets, at, at + 15)) end
return '0'`)

// chaos makes the same random requests of several ways.
type chaos struct {
	t    *testing.T
	rng  *rand.Rand
	ways []*way
	step int

	owners, eager int // how many owners there are at present, and how many of ten requests wait
	made          []pathlock.Acquisition
	waits         map[pathlock.GrantID]time.Duration
}

// live makes one step.
func (c *chaos) live() {
	if c.step%25 == 0 {
		c.owners, c.eager = 1+c.rng.IntN(6), 4*c.rng.IntN(2)
		c.openGate()
		c.made, c.waits = nil, map[pathlock.GrantID]time.Duration{}
		for i := range 6 {
			c.all(fmt.Sprint("force ", i), func(w *way) string { return c.force(w, owner(i)) })
		}
	}
	n := c.rng.IntN(100)
	anybody := owner(c.rng.IntN(c.owners))
	switch {
	case n < 42 || len(c.made) == 0:
		req := c.request(anybody)
		c.all(fmt.Sprintf("acquire %+v", req), func(w *way) string {
			return outcome(w.ask(c.t, req, c.waits[req.Grant]))
		})
	case n < 47:
		req := c.made[c.rng.IntN(len(c.made))]
		c.all(fmt.Sprintf("acquire again %+v", req), func(w *way) string {
			first := w.ask(c.t, req, c.waits[req.Grant])
			second := w.ask(c.t, req, c.waits[req.Grant])
			if first.Status != second.Status || first.Status == "granted" && first.Number(1) != second.Number(1) {
				c.t.Errorf("%s: answered with %v, and then with %v", w.name, first, second)
			}
			return outcome(second)
		})
	case n < 84:
		i := c.rng.IntN(len(c.made))
		req := c.made[i]
		if c.waits[req.Grant] == 0 {
			c.made = slices.Delete(c.made, i, i+1)
		}
		c.all(fmt.Sprintf("release %+v", req), func(w *way) string {
			return said(w.store.Release(c.t.Context(), w.tree, req.Owner, req.Grant))
		})
	case n < 88:
		req := c.made[c.rng.IntN(len(c.made))]
		c.all(fmt.Sprintf("withdraw %+v", req), func(w *way) string {
			req.Tree = w.tree
			return said(w.store.withdraw(c.t.Context(), keyOf(req), 0))
		})
	case n < 92:
		lease := pathlock.Lease{Owner: anybody, For: time.Duration(1+c.rng.IntN(4)) * age}
		if req := c.made[c.rng.IntN(len(c.made))]; req.Apart {
			lease.Owner, lease.Grant = req.Owner, req.Grant
		}
		c.all(fmt.Sprintf("renew %+v", lease), func(w *way) string {
			lost, err := w.store.Renew(c.t.Context(), w.tree, []pathlock.Lease{lease})
			return fmt.Sprint(lost, said(err))
		})
	case n < 95:
		c.all(fmt.Sprint("force ", anybody), func(w *way) string { return c.force(w, anybody) })
	case n < 98:
		// What has ended is seen to by the script of the next step.
		for _, w := range c.ways {
			if err := endLease.Run(c.t.Context(), w.store.client, w.store.keys.of(w.tree), string(anybody)).Err(); err != nil {
				c.t.Fatal(err)
			}
		}
	case n < 99:
		for _, w := range c.ways {
			if err := w.store.client.SetNX(c.t.Context(), w.store.GateKey(w.tree), foreign, long).Err(); err != nil {
				c.t.Fatal(err)
			}
		}
	default:
		c.openGate()
	}
}

// foreign is the gate key of another program.
const foreign = "0123456789012345678901 another program"

// openGate has the other program give back the gate, if it has it.
func (c *chaos) openGate() {
	for _, w := range c.ways {
		key := w.store.GateKey(w.tree)
		if w.store.client.Get(c.t.Context(), key).Val() != foreign {
			continue
		}
		if err := w.store.client.Del(c.t.Context(), key).Err(); err != nil {
			c.t.Fatal(err)
		}
	}
}

// request returns a new request.
func (c *chaos) request(by pathlock.Owner) pathlock.Acquisition {
	req := ask(pathlock.Tree{})
	req.Owner = by
	for range 1 + c.rng.IntN(3) {
		p := pathlock.Root()
		for range c.rng.IntN(4) {
			p, _ = p.Child(string(rune('a' + c.rng.IntN(3))))
		}
		req.Claims = append(req.Claims, pathlock.Claim{Path: p, Mode: pathlock.Modes()[c.rng.IntN(5)]})
	}
	if c.rng.IntN(4) > 0 { // most are as a Locker makes them
		req.Claims = pathlock.Normalize(req.Claims...)
	}
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

// outcome is what all ways have to agree on.
func outcome(got lua.Reply) string {
	switch got.Status {
	case "granted", "lost":
		return got.Status
	case "queued":
		return got.Status + " " + got.Text(1)
	default:
		return fmt.Sprint(got.Status, got.Rest[1:])
	}
}

func (c *chaos) force(w *way, by pathlock.Owner) string {
	return said(w.store.ForceRelease(c.t.Context(), w.tree, by))
}

// all takes one step in all ways, and compares.
func (c *chaos) all(what string, do func(*way) string) {
	c.t.Helper()
	want := ""
	for i, w := range c.ways {
		got := do(w)
		if i == 0 {
			want = got
		} else if got != want {
			c.t.Fatalf("step %d, %s:\n%s: %s\n%s: %s", c.step, what, c.ways[0].name, want, w.name, got)
		}
	}
	c.compare(what)
}

// compare requires that the tables of all ways are the same.
func (c *chaos) compare(what string) {
	c.t.Helper()
	want := c.ways[0].table(c.t)
	for _, w := range c.ways[1:] {
		if got := w.table(c.t); !slices.Equal(got, want) {
			c.t.Fatalf("step %d, %s:\n%s:\n%s\n%s:\n%s", c.step, what,
				c.ways[0].name, strings.Join(want, "\n"), w.name, strings.Join(got, "\n"))
		}
	}
}

// end takes everything away, after which nothing is left.
func (c *chaos) end() {
	c.openGate()
	for _, w := range c.ways {
		for i := range 6 {
			c.force(w, owner(i))
		}
		if left := keysLeft(c.t, w.store, w.tree); len(left) > 1 {
			c.t.Errorf("%s: left behind: %v, want the fence alone", w.name, left)
		}
	}
}

func owner(i int) pathlock.Owner { return pathlock.Owner(fmt.Sprint("owner ", i)) }

// said names what a command without an answer came to.
func said(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, pathlock.ErrNotHeld):
		return "not held"
	default:
		return err.Error()
	}
}
