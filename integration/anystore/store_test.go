package anystore_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Two processes that have nothing in common but a URL exclude each other. Nobody has to create
// anything first, and both may be the first.
func TestOpen_processesMeetByTheirURL(t *testing.T) {
	for name, url := range servers {
		t.Run(name, func(t *testing.T) {
			url := url(t)
			var mutexes [3]*pathlock.Mutex
			var group sync.WaitGroup
			for i := range mutexes {
				store := open(t, url)
				mutexes[i] = pathlock.New(store).Mutex(t.Name())
				group.Go(func() {
					testerr.None(t, store.Ping(t.Context()))
				})
			}
			group.Wait()
			for i := range mutexes {
				lock, err := mutexes[i].TryLock(t.Context())
				testerr.Must(t, err)
				for j := range mutexes {
					if _, err := mutexes[j].TryLock(t.Context()); !errors.Is(err, pathlock.ErrConflict) {
						t.Errorf("%d while %d holds: %v, want a conflict", j, i, err)
					}
				}
				testerr.Must(t, lock.Release(t.Context()))
			}
		})
	}
}

// Processes agree on the id of their store, also those that begin at once, those that come when all
// others have ended, and those that spell its URL otherwise. No listing shows where it is kept.
func TestStoreID_IsTheStores(t *testing.T) {
	ids := make(map[string]string)
	for name, url := range servers {
		t.Run(name, func(t *testing.T) {
			url := url(t)
			var first [3]string
			var group sync.WaitGroup
			for i := range first {
				locker := pathlock.New(open(t, url))
				group.Go(func() { first[i] = storeID(t, locker) })
			}
			group.Wait()
			option := "?timeout=4s"
			if name == "quorum" {
				option = "|timeout=4s"
			}
			locker := pathlock.New(open(t, url+option))
			id := storeID(t, locker)
			if first != [3]string{id, id, id} || id == "" {
				t.Errorf("a later process has the id %q, those before %q", id, first)
			}
			if other := ids[id]; other != "" {
				t.Errorf("%s has the id of %s", name, other)
			}
			ids[id] = name
			trees, err := locker.Trees(t.Context())
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
