package redisstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/calls"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// TestWays: the thin and the short way of a script do what the whole script does. The same random
// requests go to trees whose scripts lack one of them, or both; after each, the answers are the
// same, and so are the lock tables.
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
	const (
		most = 500  // claims that the short ways take, that on the gate node among them
		huge = 9000 // claims that Lua cannot hand to one command
	)
	all := newWays(t)
	for _, n := range []int{most - 2, most - 1, most, most + 1, huge} {
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
					if got := w.ask(t, req, 0); got.Status != "granted" {
						t.Fatalf("%s: %s, want a grant", w.name, got.Status)
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
		w.store.calls.Pace.Heeds = false // a question that is asked again leaves something behind
		sc := &w.store.scripts
		switch i {
		case 1:
			sc.acquire = newAcquire([]string{clockLua, modesLua, shortAcquireLua})
			sc.release = newRelease([]string{clockLua, successorLua, modesLua, apartLua, shortReleaseLua})
		case 2:
			sc.acquire = newAcquire([]string{clockLua, thinAcquireLua})
			sc.release = newRelease([]string{thinReleaseLua})
		case 3:
			sc.acquire = newAcquire(nil)
			sc.release = newRelease(nil)
		}
		process := w.store.runner.Process
		w.store.runner.Process = func(ctx context.Context, lane lua.Lane, cmd redis.Cmder) error {
			err := process(ctx, lane, cmd)
			if c, ok := cmd.(*redis.Cmd); ok {
				if _, number := c.Val().(int64); number { // that is how the quick ways answer
					switch cmd.Args()[1] {
					case sc.acquire.SHA():
						w.quick.acquired++
					case sc.release.SHA():
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
func (w *way) ask(t *testing.T, req pathlock.Acquisition, wait time.Duration) lua.Reply {
	t.Helper()
	req.Tree = w.tree
	r := &request{
		Acquisition: req,
		set:         newClaimSet(req.Gate, req.Claims),
		keys:        w.store.keys.of(w.tree),
		what:        calls.Operation{Verb: "acquire", Tree: w.tree},
		began:       time.Now(),
		until:       time.Now().Add(patience),
		call:        calls.NewRequest(keyOf(req), req.Lease),
	}
	got, err := w.store.ask(t.Context(), r, "1", wait)
	if err != nil {
		t.Fatalf("%s: acquire: %v", w.name, err)
	}
	return got
}
