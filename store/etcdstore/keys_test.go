package etcdstore

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// No tree's keys are in the range of another one.
func TestKeys_treesAreDisjoint(t *testing.T) {
	k := newKeys(DefaultPrefix)
	names := []string{"a", "a/", "a/b", "b", "/", "%2F", "a%2Fb", ".", "..", "guards", "\u00ff", "a b"}
	var all []string
	for _, namespace := range names {
		for _, id := range names {
			tree, err := pathlock.NewTree(namespace, id)
			testerr.Must(t, err)
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
