package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// seedVariable fixes the seed of the random tests, so that a failure can be repeated.
const seedVariable = "PATHLOCK_STORETEST_SEED"

func model() topic {
	const steps = 150
	seeds := []uint64{rand.Uint64(), rand.Uint64(), rand.Uint64(), rand.Uint64()}
	if fixed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil {
		seeds = []uint64{fixed}
	}
	var promises []promise
	for _, seed := range seeds {
		promises = append(promises,
			promise{
				fmt.Sprintf("random requests are granted exactly where a shadow table grants them (seed %d)", seed),
				func(f *fixture) { f.shadowTable(seed, steps) },
			},
			promise{
				fmt.Sprintf("random requests that wait are granted exactly when a shadow queue grants them (seed %d)", seed),
				func(f *fixture) { f.shadowQueue(seed, steps) },
			},
		)
	}
	return topic{"model", promises}
}

// shadow is a request as the models know it, in the words of the definition: claims as they were
// written, without intentions.
type shadow struct {
	*actor
	gate bool
	set  claims
	// arrival is the request's place in the order of those that the queue was sent.
	arrival int

	held    *held    // when it is granted
	pending *pending // while it waits
}

func (r *shadow) String() string {
	if r.gate {
		return fmt.Sprintf("%s: the gate and %v", r.name, r.set)
	}
	return fmt.Sprintf("%s: %v", r.name, r.set)
}

// randomRequest returns a request of a random one of the actors.
func randomRequest(random *rand.Rand, actors []*actor) *shadow {
	paths := []string{"/", "/a", "/a/b", "/a/b/c", "/a/d", "/a-b", "/e", "/e/f"}
	r := &shadow{actor: actors[random.IntN(len(actors))], gate: random.IntN(25) == 0}
	for range 1 + random.IntN(2) {
		mode := pathlock.Modes()[random.IntN(len(pathlock.Modes()))]
		r.set = append(r.set, claim(mode, paths[random.IntN(len(paths))]))
	}
	return r
}

// acquisition returns the request as the store is sent it.
func (r *shadow) acquisition() pathlock.Acquisition {
	req := r.ask(r.set...)
	req.Gate = r.gate
	return req
}

// excludes says from the definition whether two requests cannot be held at once.
func (r *shadow) excludes(other *shadow) bool {
	if r.owner == other.owner {
		return false
	}
	if r.gate || other.gate {
		return true
	}
	for _, a := range r.set {
		for _, b := range other.set {
			if collide(a, b) {
				return true
			}
		}
	}
	return false
}

// collide says whether two claims of different owners exclude each other: on one node by the
// matrix, else where the lower one's intention on the upper one's node does.
func collide(a, b pathlock.Claim) bool {
	pa, pb := a.Path.String(), b.Path.String()
	switch {
	case pa == pb:
		return !mayMeet(a.Mode, b.Mode)
	case pa == "/" || strings.HasPrefix(pb, pa+"/"):
		return !mayMeet(a.Mode, intention(b.Mode))
	case pb == "/" || strings.HasPrefix(pa, pb+"/"):
		return !mayMeet(intention(a.Mode), b.Mode)
	default:
		return false
	}
}

// history is printed when a test fails.
type history []string

func (f *fixture) newHistory() *history {
	h := new(history)
	f.Cleanup(func() {
		if f.Failed() {
			f.Logf("what happened:\n%s", strings.Join(*h, "\n"))
		}
	})
	return h
}

func (h *history) add(format string, args ...any) { *h = append(*h, fmt.Sprintf(format, args...)) }

// shadowTable lets a few owners acquire, upgrade and release at random without waiting, and
// compares every answer with a list of what is held.
func (f *fixture) shadowTable(seed uint64, steps int) {
	random := rand.New(rand.NewPCG(seed, 0))
	actors := []*actor{f.actor("one"), f.actor("two"), f.actor("three"), f.actor("four")}
	history := f.newHistory()
	var table []*shadow
	for range steps {
		if len(table) > 0 && random.IntN(5) < 2 {
			i := random.IntN(len(table))
			history.add("release of %v", table[i])
			table[i].held.release()
			table = slices.Delete(table, i, i+1)
			continue
		}
		r := randomRequest(random, actors)
		want := !slices.ContainsFunc(table, r.excludes)
		history.add("%v: granted: %v", r, want)
		req := r.acquisition()
		g, err := f.store.Acquire(f.ctx, req)
		if err != nil && !errors.Is(err, pathlock.ErrConflict) {
			f.Fatalf("%v: %v", r, err)
		}
		if err == nil {
			r.held = r.hold(req.Grant, g)
			table = append(table, r)
		}
		if granted := err == nil; granted != want {
			f.Fatalf("%v: granted: %v (%v), want %v", r, granted, err, want)
		}
	}
}
