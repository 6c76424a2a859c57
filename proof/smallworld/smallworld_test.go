package smallworld

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/proof/budget"
	"github.com/pathlock-go/pathlock/proof/simredis"
)

func seconds(since time.Time) int { return int(time.Since(since).Seconds()) }

// TestQueue_smallWorld: whatever three owners do, in whatever order, the queue is in a state of the
// rule: all of it with four requests at once, with six of a few kinds, and as much as there is time
// for with six of all kinds. 50 million states take about a gigabyte.
func TestQueue_smallWorld(t *testing.T) {
	const states = 50_000_000
	began := time.Now()
	report := func(done *explored, err error, numbers ...any) *explored {
		t.Helper()
		budget.Report(t, append(numbers, "states", done.states, "commands", done.commands, "seconds", seconds(began))...)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	small := func(requests int, may uint32, before ...*explored) *explored {
		done, err := explore(requests, may, states, budget.Time()/3, before...)
		whole := 0
		if done.whole {
			whole = 1
		}
		return report(done, err, "requests", requests, "whole", whole)
	}
	four := small(4, everything)
	kinds := small(most, few, four)
	done, err := explore(most, everything, states, budget.Time()-time.Since(began), four, kinds)
	report(done, err, "requests", most, "depth", done.depth)
}

// TestQueue_randomWorld: five owners with up to twelve requests do random things.
func TestQueue_randomWorld(t *testing.T) {
	const steps = 1000
	began, seed := time.Now(), budget.Seed()
	var commands atomic.Int64
	var workers sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := uint64(worker); time.Since(began) < budget.Time() && !t.Failed(); n += uint64(runtime.GOMAXPROCS(0)) {
				if err := walk(rand.New(rand.NewPCG(seed, n)), steps); err != nil {
					t.Errorf("%s=%d: %v", budget.SeedVariable, seed, err)
				}
				commands.Add(steps)
			}
		})
	}
	workers.Wait()
	budget.Report(t, "commands", commands.Load(), "seed", seed, "seconds", seconds(began))
}

// TestScripts_smallWorld: the scripts of Redis do what the rule says, in every order of the first
// commands, and in random orders of more.
func TestScripts_smallWorld(t *testing.T) {
	c := recorded(t, "proof")
	began, seed := time.Now(), budget.Seed()
	until := began.Add(budget.Time())
	var states, commands, steps, depth int
	var mu sync.Mutex
	var workers sync.WaitGroup
	for worker := range max(2, runtime.GOMAXPROCS(0)) {
		server := simredis.New()
		now := time.Unix(1_800_000_000, 0)
		server.Clock = func() time.Time { now = now.Add(time.Millisecond); return now }
		s := &scripts{calls: c, do: server.Do, shas: make(map[string]string)}
		workers.Go(func() {
			if worker == 0 {
				done, err := s.explore(server, until)
				if err != nil {
					t.Error(err)
				}
				states, commands, depth = done.states, done.commands, done.depth
				return
			}
			for n := uint64(worker); time.Now().Before(until) && !t.Failed(); n += uint64(runtime.GOMAXPROCS(0)) {
				if err := s.walk(rand.New(rand.NewPCG(seed, n)), 100); err != nil {
					t.Errorf("%s=%d: %v", budget.SeedVariable, seed, err)
				}
				mu.Lock()
				steps += 100
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	budget.Report(t, "states", states, "commands", commands, "depth", depth, "random", steps, "seed", seed, "seconds", seconds(began))
}

// TestScripts_realRedis: what the small Redis shows of the scripts is what a real one does with
// them.
func TestScripts_realRedis(t *testing.T) {
	options, err := redis.ParseURL(testserver.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	do := func(args ...string) (any, error) {
		words := make([]any, len(args))
		for i, arg := range args {
			words[i] = arg
		}
		return client.Do(t.Context(), words...).Result()
	}
	s := &scripts{calls: recorded(t, testlock.Tree(t).ID()), do: do, shas: make(map[string]string)}
	began, seed, steps := time.Now(), budget.Seed(), 0
	for ; time.Since(began) < budget.Time(); steps += 20 {
		if err := s.walk(rand.New(rand.NewPCG(seed, uint64(steps))), 20); err != nil {
			t.Fatalf("%s=%d: %v", budget.SeedVariable, seed, err)
		}
	}
	budget.Report(t, "random", steps, "seed", seed, "seconds", seconds(began))
}

func recorded(t *testing.T, id string) *calls {
	t.Helper()
	tree, err := pathlock.NewTree("proof", id)
	if err != nil {
		t.Fatal(err)
	}
	c, err := record(tree)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
