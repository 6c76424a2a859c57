package zkstore

import (
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

func TestZnode_namesOfTrees(t *testing.T) {
	seen := make(map[string]pathlock.Tree)
	for _, namespace := range []string{"a", "a:b", ".", "..", "a/b", "%3A", "zookeeper", "stamp-", "ä", " ", "+", strings.Repeat("/", 255)} {
		for _, id := range []string{"a", "b:c", "..", "/", "../..", "%", "\u2028", "日本"} {
			tree, err := pathlock.NewTree(namespace, id)
			testerr.Must(t, err)
			name := nameOf(tree)
			if strings.ContainsAny(name, "/\u2028") || strings.Trim(name, ".") == "" {
				t.Errorf("%v has the name %q", tree, name)
			}
			if other, twice := seen[name]; twice {
				t.Errorf("%v and %v have one name", tree, other)
			}
			seen[name] = tree
			if back, ok := treeOf(name); !ok || back != tree {
				t.Errorf("%q is the name of %v, and not %v", name, back, tree)
			}
		}
	}
	for _, name := range []string{"", "a", "stamp-A", "a:", ":b", "a:b:c", "a:%", "a:%62", "ä:b"} {
		if tree, ok := treeOf(name); ok {
			t.Errorf("%q is the name of %v", name, tree)
		}
	}
}
