package quorum_test

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/quorum"
)

// TestStoreID: all processes of a quorum have the same id, and those that use a member alone have
// another one, before and after. A quorum whose members have lost their data in turn has a new id.
func TestStoreID(t *testing.T) {
	members := memstores(3)
	p := newProcesses(t, 2, members, quorum.WithTimeout(generous))
	seen := map[string]string{}
	id := func(who string, s pathlock.Store) {
		id, err := pathlock.New(s).StoreID(t.Context())
		testerr.Must(t, err)
		if other := seen[id]; other != "" {
			t.Errorf("%s has the id of %s", who, other)
		}
		seen[id] = who
	}
	alone, _ := links(members)
	id("the first member", alone[0])
	id("the second", alone[1])
	id("the quorum", p[0].store)
	id("the first member, later", alone[0])
	for i := range 2 {
		p[0].links[i+1].store = memstore.New()
		p[1].links[i+1].store = p[0].links[i+1].store
	}
	id("the quorum, without the data of two", p[0].store)
	one, err := pathlock.New(p[0].store).StoreID(t.Context())
	testerr.Must(t, err)
	other, err := pathlock.New(p[1].store).StoreID(t.Context())
	testerr.Must(t, err)
	if one != other {
		t.Errorf("two processes have the ids %q and %q", one, other)
	}
}
