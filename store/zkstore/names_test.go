package zkstore

import (
	"maps"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
)

func TestNamesOfTrees(t *testing.T) {
	seen := make(map[string]pathlock.Tree)
	for _, namespace := range []string{"a", "a:b", ".", "..", "a/b", "%3A", "zookeeper", "~sweeper", "ä", strings.Repeat("/", 255)} {
		for _, id := range []string{"a", "b:c", "..", "/", "../..", "%", "\u2028", "日本"} {
			tree, err := pathlock.NewTree(namespace, id)
			if err != nil {
				t.Fatal(err)
			}
			name := nameOf(tree)
			if strings.ContainsAny(name, "/~") || name == "zookeeper" || strings.Trim(name, ".") == "" {
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
	for _, name := range []string{"", "a", sweeperName, "a:", ":b", "a:b:c", "a:%", "a:%62", "ä:b"} {
		if tree, ok := treeOf(name); ok {
			t.Errorf("%q is the name of %v", name, tree)
		}
	}
}

func TestRecord(t *testing.T) {
	r := record{fence: 1<<63 + 1, tickets: map[string]int32{newID(): 0, newID(): 2147483647}}
	for range 2 * rememberedUpdates {
		r.updates = r.after(newID())
	}
	if len(r.updates) != rememberedUpdates {
		t.Errorf("%d updates are remembered", len(r.updates))
	}
	got, err := decodeRecord(r.encode())
	if err != nil || got.fence != r.fence || strings.Join(got.updates, " ") != strings.Join(r.updates, " ") || !maps.Equal(got.tickets, r.tickets) {
		t.Errorf("%+v has become %+v, error %v", r, got, err)
	}
	for _, data := range []string{"x", "fence x updates", "fence 1", "ticket a", "ticket a b", "{}"} {
		if _, err := decodeRecord([]byte(data)); err == nil {
			t.Errorf("%q is a record", data)
		}
	}
	if empty, err := decodeRecord(nil); err != nil || empty.fence != 0 || len(empty.tickets) != 0 {
		t.Errorf("a new znode holds %+v, error %v", empty, err)
	}
}
