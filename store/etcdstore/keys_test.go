package etcdstore

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
)

func TestKeysOfATree(t *testing.T) {
	k := newKeys("/locks")
	tree, err := pathlock.NewTree("test plan", "a/b%ü")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := k.guard(tree), "/locks/test%20plan/a%2Fb%25%C3%BC/guard"; got != want {
		t.Errorf("the guard is %s, want %s", got, want)
	}
	key := k.ticket(tree, 500)
	if want := "/locks/test%20plan/a%2Fb%25%C3%BC/tickets/00000000000001f4"; key != want {
		t.Errorf("a ticket is %s, want %s", key, want)
	}
	if got, ticket, err := k.treeOf(key); err != nil || got != tree || !ticket {
		t.Errorf("treeOf(%s) = %s, %v, %v", key, got, ticket, err)
	}
	if place, err := k.place(key); err != nil || place != 500 {
		t.Errorf("place(%s) = %d, %v", key, place, err)
	}
	for _, other := range []string{k.floor(tree), k.ping()} {
		if _, _, err := k.treeOf(other); err == nil {
			t.Errorf("%s is taken for the key of a tree", other)
		}
	}
}

// No tree's keys are in the range of another one.
func TestTreesAreDisjoint(t *testing.T) {
	k := newKeys(DefaultPrefix)
	names := []string{"a", "a/", "a/b", "b", "/", "%2F", "a%2Fb", ".", "..", "guard", "tickets", "\u00ff", "a b"}
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
	before := guard{Updates: []string{"b2", "b1"}}
	many := before
	for _, name := range strings.Split("c1 c2 c3 c4 c5 c6 c7 c8", " ") {
		many = many.next(0, name)
	}
	for name, test := range map[string]struct {
		now  guard
		want outcome
	}{
		"it was the last one":                   {before.next(1, "mine"), carriedOut},
		"others have followed":                  {before.next(1, "mine").next(2, "c1"), carriedOut},
		"others have written, and it has not":   {before.next(1, "c1"), notCarriedOut},
		"too many others to know":               {many, unknown},
		"the guard is another one":              {guard{}.next(1, "c1"), unknown},
		"the guard is another one, and it that": {guard{}.next(1, "mine"), carriedOut},
	} {
		if got := test.now.outcomeOf("mine", before); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
