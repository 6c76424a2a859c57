package anystore_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Processes that have nothing in common but a URL exclude each other, and agree on the id of their
// store, also those that begin at once, those that come when all others have ended, and those that
// spell the URL otherwise. Nobody has to create anything first. No listing shows where the id is.
func TestOpen_processesMeetByTheirURL(t *testing.T) {
	seen := make(map[string]string)
	for name, url := range servers {
		t.Run(name, func(t *testing.T) {
			url := url(t)
			var lockers [3]*pathlock.Locker
			var ids [3]string
			var group sync.WaitGroup
			for i := range lockers {
				lockers[i] = pathlock.New(open(t, url))
				group.Go(func() { ids[i] = storeID(t, lockers[i]) })
			}
			group.Wait()
			option := "?timeout=4s"
			if name == "quorum" {
				option = "|timeout=4s"
			}
			later := pathlock.New(open(t, url+option))
			id := storeID(t, later)
			if ids != [3]string{id, id, id} || id == "" {
				t.Errorf("a later process has the id %q, those before %q", id, ids)
			}
			if other := seen[id]; other != "" {
				t.Errorf("%s has the id of %s", name, other)
			}
			seen[id] = name
			for i, holder := range lockers {
				lock, err := holder.Mutex(t.Name()).TryLock(t.Context())
				testerr.Must(t, err)
				for j, other := range append(lockers[:], later) {
					testerr.Is(t, fmt.Sprintf("%d while %d holds", j, i), testerr.Of(other.Mutex(t.Name()).TryLock(t.Context())), pathlock.ErrConflict)
				}
				testerr.Must(t, lock.Release(t.Context()))
			}
			trees, err := later.Trees(t.Context())
			if err != nil || slices.ContainsFunc(trees, func(t pathlock.Tree) bool { return t.Namespace() == "pathlock-store" }) {
				t.Errorf("the trees in use are %v (%v)", trees, err)
			}
		})
	}
	if id := storeID(t, pathlock.New(open(t, "memory://"))); id != "" {
		t.Errorf("a store of one process has the id %q", id)
	}
}

func storeID(t *testing.T, locker *pathlock.Locker) string {
	t.Helper()
	id, err := locker.StoreID(t.Context())
	testerr.None(t, err)
	return id
}

// open opens a store for the time of the test.
func open(t *testing.T, url string, opts ...anystore.Option) *anystore.Store {
	t.Helper()
	store, err := anystore.Open(t.Context(), url, append(opts, kinds...)...)
	testerr.Must(t, err)
	t.Cleanup(func() {
		testerr.None(t, store.Close(context.WithoutCancel(t.Context())))
	})
	return store
}
