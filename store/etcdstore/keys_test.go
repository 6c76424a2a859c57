package etcdstore

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
)

// No tree's keys are in the range of another one.
func TestTreesAreDisjoint(t *testing.T) {
	k := newKeys(DefaultPrefix)
	names := []string{"a", "a/", "a/b", "b", "/", "%2F", "a%2Fb", ".", "..", "guards", "\u00ff", "a b"}
	var all []string
	for _, namespace := range names {
		for _, id := range names {
			tree, err := pathlock.NewTree(namespace, id)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, k.tree(tree))
		}
	}
	for i, a := range all {
		for j, b := range all {
			if i != j && strings.HasPrefix(a, b) {
				t.Errorf("%s is in the range of %s", a, b)
			}
		}
	}
}

func TestOutcomeOfAnUpdate(t *testing.T) {
	after := func(g guard, updates ...string) guard {
		for _, name := range updates {
			text, err := g.after(1, name)
			if err == nil {
				g, err = decodeGuard([]byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return g
	}
	full := strings.Split("f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 f13 f14 f15 f16", " ")
	young, old := after(guard{}, "b1", "b2"), after(guard{}, full...)
	for name, test := range map[string]struct {
		before, now guard
		want        outcome
	}{
		"it was the last one":                      {young, after(young, "mine"), carriedOut},
		"others have followed":                     {old, after(old, "mine", "c1"), carriedOut},
		"others have written, and it has not":      {young, after(young, "c1"), notCarriedOut},
		"they have, where more are not remembered": {old, after(old, "c1"), notCarriedOut},
		"it was the first one":                     {guard{}, after(guard{}, "mine"), carriedOut},
		"others were the first":                    {guard{}, after(guard{}, "c1"), notCarriedOut},
		"too many others to know":                  {young, after(young, full...), unknown},
		"too many others to know from the first":   {guard{}, after(guard{}, full...), unknown},
	} {
		if got := test.now.outcomeOf("mine", test.before); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
