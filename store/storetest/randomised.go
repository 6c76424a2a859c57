package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
)

func randomised() topic {
	var promises []promise
	for range 4 {
		seed := rand.Uint64()
		promises = append(promises, promise{
			fmt.Sprintf("random requests are granted exactly where a shadow table grants them (seed %d)", seed),
			func(f *fixture) { f.shadow(seed, 150) },
		})
	}
	return topic{"model", promises}
}

// shadowHold is one grant in the shadow table, in the words of the definition:
// claims as they were written, without intentions.
type shadowHold struct {
	held   *held
	gate   bool
	claims claims
}

// collide says from the definition whether two claims of different owners exclude each other: on
// one node by the matrix; else where the lower one's intention on the upper one's node does.
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

// admits says whether the shadow table, a plain list of holds, lets an owner have a set.
func admits(table []shadowHold, owner pathlock.Owner, gate bool, set claims) bool {
	for _, h := range table {
		if h.held.owner == owner {
			continue
		}
		if gate || h.gate {
			return false
		}
		for _, a := range h.claims {
			for _, b := range set {
				if collide(a, b) {
					return false
				}
			}
		}
	}
	return true
}

// shadow lets a few owners acquire, upgrade and release at random without waiting, and
// compares every answer with the shadow table's.
func (f *fixture) shadow(seed uint64, steps int) {
	random := rand.New(rand.NewPCG(seed, 0))
	paths := []string{"/", "/a", "/a/b", "/a/b/c", "/a/d", "/a-b", "/e", "/e/f"}
	actors := []*actor{f.actor("one"), f.actor("two"), f.actor("three"), f.actor("four")}
	var (
		table []shadowHold
		log   []string
	)
	for range steps {
		if len(table) > 0 && random.IntN(5) < 2 {
			i := random.IntN(len(table))
			log = append(log, fmt.Sprintf("%s releases %v", table[i].held.name, table[i].claims))
			table[i].held.release()
			table = slices.Delete(table, i, i+1)
			continue
		}
		a := actors[random.IntN(len(actors))]
		gate := random.IntN(25) == 0
		var set claims
		for range 1 + random.IntN(2) {
			mode := pathlock.Modes()[random.IntN(len(pathlock.Modes()))]
			set = append(set, claim(mode, paths[random.IntN(len(paths))]))
		}
		req := a.ask(set...)
		req.Gate = gate
		want := admits(table, a.owner, gate, set)
		log = append(log, fmt.Sprintf("%s asks for %v, gate %v: %v", a.name, set, gate, want))
		g, err := f.store.Acquire(f.ctx, req)
		if err != nil && !errors.Is(err, pathlock.ErrConflict) {
			f.Fatalf("%v", err)
		}
		if err == nil {
			table = append(table, shadowHold{a.hold(req.Grant, g), gate, set})
		}
		if granted := err == nil; granted != want {
			f.Fatalf("granted: %v (%v), want %v, after\n%s", granted, err, want, strings.Join(log, "\n"))
		}
	}
}
