package zkstore

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// Names of trees lead back to them, as the conformance suite shows, and no other name leads to any.
func TestZnode_namesOfTrees(t *testing.T) {
	tree, err := pathlock.NewTree("a/b", "..")
	testerr.Must(t, err)
	if back, ok := treeOf(nameOf(tree)); !ok || back != tree {
		t.Errorf("%q is the name of %v, and not %v", nameOf(tree), back, tree)
	}
	for _, name := range []string{"", "a", "stamp-A", "a:", ":b", "a:b:c", "a:%", "a:%62", "ä:b"} {
		if tree, ok := treeOf(name); ok {
			t.Errorf("%q is the name of %v", name, tree)
		}
	}
}
