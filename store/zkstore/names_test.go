package zkstore

import (
	"reflect"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/ticketlist"
	"github.com/pathlock-go/pathlock/store/ticketstore"
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
	var d ticketlist.Decoder
	r := record{Life: newID()}
	ticket := ticketstore.Ticket{Place: 7, State: ticketstore.Granted}
	for n := range 2 * rememberedUpdates {
		r = r.after(newID(), ticketstore.Changes{Fence: 1<<63 + uint64(n), Put: []ticketstore.Ticket{ticket}})
	}
	if len(r.Updates) != rememberedUpdates {
		t.Errorf("%d updates are remembered", len(r.Updates))
	}
	data, err := r.encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeRecord(&d, data); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("%+v has become %+v, error %v", r, got, err)
	}
	for _, data := range []string{"", "x", "{", "{}\nx", "fence 1"} {
		if _, err := decodeRecord(&d, []byte(data)); err == nil {
			t.Errorf("%q is a record", data)
		}
	}
}
