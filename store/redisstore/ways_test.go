package redisstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// TestWays: the thin and the short way of a script do what the whole script does. The same random requests go to trees whose
// scripts lack one of them, or both; after each, the answers are the same, and so are the lock tables.
func TestWays(t *testing.T) {
	all := newWays(t)
	var steps int
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			for _, w := range all {
				w.tree = newTree(t)
			}
			c := chaos{t: t, rng: rand.New(rand.NewPCG(seed, 11)), ways: all}
			for c.step = range 250 {
				c.live()
				steps++
			}
			c.end()
		})
	}
	for _, w := range all {
		t.Logf("%s: %d acquisitions and %d releases of %d steps went a quick way", w.name, w.quick.acquired, w.quick.released, steps)
		if least := steps / 50; w.isQuick && (w.quick.acquired < least || w.quick.released < least) || !w.isQuick && w.quick.acquired+w.quick.released > 0 {
			t.Errorf("%s: %+v of %d steps went a quick way: the test proves nothing", w.name, w.quick, steps)
		}
	}
}

// TestWaysOfManyClaims: the short way leaves what is too much for it to the rest of the script.
func TestWaysOfManyClaims(t *testing.T) {
	const most = 500 // claims that the short ways take, that on the gate node among them
	all := newWays(t)
	for n := most - 2; n <= most+1; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var claims []pathlock.Claim
			for i := range n {
				claims = append(claims, pathlock.S(path(fmt.Sprintf("/%d", i))))
			}
			beside, many := ask(pathlock.Tree{}, is("/0")), ask(pathlock.Tree{}, x("/other"))
			many.Claims = claims
			for _, w := range all {
				w.tree = newTree(t)
				for _, req := range []pathlock.Acquisition{beside, many} {
					if got := w.ask(t, req, 0); got.status != "granted" {
						t.Fatalf("%s: %s, want a grant", w.name, got.status)
					}
				}
			}
			c := chaos{t: t, ways: all}
			c.compare("acquire")
			for _, w := range all {
				if err := w.store.Release(t.Context(), w.tree, many.Owner, many.Grant); err != nil {
					t.Fatalf("%s: release: %v", w.name, err)
				}
			}
			c.compare("release")
		})
	}
}

// way is a store whose scripts may lack their thin or their short way, and a tree.
type way struct {
	name  string
	store *Store
	tree  pathlock.Tree
	// isQuick is set if some way is left, and quick counts what went it.
	isQuick bool
	quick   struct{ acquired, released int }
}

func newWays(t *testing.T) []*way {
	ways := []*way{
		{name: "as they are", isQuick: true},
		{name: "without the thin way", isQuick: true},
		{name: "without the short way", isQuick: true},
		{name: "without either"},
	}
	for i, w := range ways {
		w.store = newStore(t)
		sc := &w.store.scripts
		switch i {
		case 1:
			sc.acquire = newScript(acquireLua, "granted", clockLua, shortAcquireLua)
			sc.release = newScript(releaseLua, "released", clockLua, shortReleaseLua)
		case 2:
			sc.acquire = newScript(acquireLua, "granted", clockLua, thinAcquireLua)
			sc.release = newScript(releaseLua, "released", thinReleaseLua, clockLua)
		case 3:
			sc.acquire = newScript(acquireLua, "granted", clockLua)
			sc.release = newScript(releaseLua, "released", clockLua)
		}
		process := w.store.runner.process
		w.store.runner.process = func(ctx context.Context, cmd redis.Cmder) error {
			err := process(ctx, cmd)
			if c, ok := cmd.(*redis.Cmd); ok {
				if _, number := c.Val().(int64); number { // that is how the quick ways answer
					switch cmd.Args()[1] {
					case sc.acquire.sha:
						w.quick.acquired++
					case sc.release.sha:
						w.quick.released++
					}
				}
			}
			return err
		}
	}
	return ways
}

// ask sends one request. A request that is queued stays so: nobody listens.
func (w *way) ask(t *testing.T, req pathlock.Acquisition, wait time.Duration) reply {
	t.Helper()
	req.Tree = w.tree
	r := &request{
		Acquisition: req,
		set:         newClaimSet(req.Gate, req.Claims),
		keys:        w.store.keys.of(w.tree),
		what:        operation{verb: "acquire", tree: w.tree},
		began:       time.Now(),
	}
	got, err := w.store.ask(t.Context(), r, "1", wait)
	if err != nil {
		t.Fatalf("%s: acquire: %v", w.name, err)
	}
	return got
}

// inflated is a script that does nothing but inflate a thin lock.
var inflated = newScript("return '0'", "", clockLua)

// copyTree copies the keys of one tree to those of another.
var copyTree = redis.NewScript(`for i = 1, #KEYS / 2 do redis.call('COPY', KEYS[i], KEYS[#KEYS / 2 + i], 'REPLACE') end`)

// readTree reads the keys of a tree, and when they end.
var readTree = redis.NewScript(`return {
  redis.call('HGETALL', KEYS[1]), redis.call('ZRANGE', KEYS[2], '0', '-1', 'WITHSCORES'), redis.call('ZRANGE', KEYS[3], '0', '-1'),
  redis.call('GET', KEYS[5]) or '', redis.call('PEXPIRETIME', KEYS[1]), redis.call('PEXPIRETIME', KEYS[2]), redis.call('PEXPIRETIME', KEYS[3]),
}`)

// age is what the leases and waits in these tests are multiples of: no test takes so long.
const age = 1000 * time.Second

// table describes the lock table, the thin lock inflated, with ranks in place of tickets and fences, and with times in whole
// ages from now. It is read from a copy, so that what is thin remains so.
func (w *way) table(t *testing.T) []string {
	t.Helper()
	ctx := t.Context()
	double := newTree(t)
	keys, copied := w.store.keys.of(w.tree), w.store.keys.of(double)
	if err := copyTree.Run(ctx, w.store.client, slices.Concat(keys, copied)).Err(); err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	if _, err := inflated.run(ctx, w.store.runner, copied); err != nil {
		t.Fatal(err)
	}
	requireConsistent(t, w.store, double)
	image, err := readTree.Run(ctx, w.store.client, copied).Slice()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.client.Del(ctx, copied...).Err(); err != nil {
		t.Fatal(err)
	}
	return describe(t, image)
}

func describe(t *testing.T, image []any) (lines []string) {
	t.Helper()
	now := time.Now().Add(-age / 10)
	ages := func(ms string) string {
		n, err := strconv.ParseInt(ms, 10, 64)
		if err != nil {
			t.Fatalf("a time: %v", err)
		}
		return fmt.Sprint("age ", int64(time.UnixMilli(n).Sub(now)/age))
	}
	fields, _ := parseStrings(image[0])
	deadlines, _ := parseStrings(image[1])
	var tickets, fences []string
	for pair := range slices.Chunk(fields, 2) {
		switch pair[0][0] {
		case 'w':
			tickets = append(tickets, pair[0][1:])
		case 'o':
			record, _ := decodeRecord(pair[1])
			for grant := range slices.Chunk(record, 6) {
				fences = append(fences, grant[1])
			}
		}
	}
	slices.Sort(tickets)
	slices.Sort(fences)
	rank := func(all []string, one string) string { return fmt.Sprint("rank ", slices.Index(all, one)) }
	member := func(m string) string {
		if m[0] == 'w' {
			return "w" + rank(tickets, m[1:])
		}
		return m
	}
	for pair := range slices.Chunk(fields, 2) {
		field, value := pair[0], pair[1]
		record, _ := decodeRecord(value)
		switch field[0] {
		case 'o':
			for grant := range slices.Chunk(record, 6) {
				grant[1], grant[2] = rank(fences, grant[1]), ages(grant[2])
			}
			value = fmt.Sprintf("%q", record)
		case 'w':
			record[3], record[4], record[5] = ages(record[3]), ages(record[4]), "" // the channel is the store's
			field, value = member(field), fmt.Sprintf("%q", record)
		case 'r':
			var own []string
			for ticket := range chunks(value, 16) {
				own = append(own, rank(tickets, ticket))
			}
			value = fmt.Sprint(own)
		case 'k':
			value = "a ticket"
		}
		lines = append(lines, fmt.Sprintf("%q: %s", field, value))
	}
	last := ""
	for pair := range slices.Chunk(deadlines, 2) {
		lines = append(lines, fmt.Sprintf("deadline %s: %s", member(pair[0]), ages(pair[1])))
		last = max(last, pair[1])
	}
	for _, m := range image[2].([]any) {
		place := m.(string)
		at := len(place) - 16
		lines = append(lines, fmt.Sprintf("queue %q %s", place[:at], rank(tickets, place[at:])))
	}
	for i, key := range []string{"locks", "deadlines", "queue"} {
		if ends := fmt.Sprint(image[4+i]); ends != "-2" && ends < last {
			lines = append(lines, fmt.Sprintf("%s end at %s, before the last lease at %s", key, ends, last))
		}
	}
	lines = append(lines, "gate "+image[3].(string))
	slices.Sort(lines)
	return lines
}

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
			if first.status != second.status || first.status == "granted" && first.number(1) != second.number(1) {
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
			return said(w.store.withdraw(c.t.Context(), &request{Acquisition: req, keys: w.store.keys.of(w.tree)}))
		})
	case n < 92:
		lease := pathlock.Lease{Owner: anybody, For: time.Duration(1+c.rng.IntN(4)) * age}
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
	gate, waits := false, false // what else the owner may be waiting for
	for _, other := range c.made {
		if other.Owner == by && c.waits[other.Grant] > 0 {
			gate, waits = gate || other.Gate, true
		}
	}
	req.Gate = c.rng.IntN(20) == 0 && !waits
	req.Held = c.rng.IntN(8) == 0
	req.Lease = time.Duration(1+c.rng.IntN(4)) * age
	c.made = append(c.made, req)
	if c.rng.IntN(10) < c.eager && !gate {
		c.waits[req.Grant] = time.Duration(1+c.rng.IntN(4)) * age
	}
	return req
}

// outcome is what all ways have to agree on.
func outcome(got reply) string {
	switch got.status {
	case "granted", "lost":
		return got.status
	case "queued":
		return got.status + " " + got.text(1)
	default:
		return fmt.Sprint(got.status, got.rest[1:])
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
		if left := keysOf(c.t, w.store, w.tree); len(left) > 1 {
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
