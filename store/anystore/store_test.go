package anystore_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Two processes that have nothing in common but a URL exclude each other. Nobody has to create
// anything first, and both may be the first.
func TestProcessesMeetByTheirURL(t *testing.T) {
	for name, url := range servers {
		t.Run(name, func(t *testing.T) {
			url := url(t)
			var mutexes [3]*pathlock.Mutex
			var group sync.WaitGroup
			for i := range mutexes {
				store := open(t, url)
				mutexes[i] = pathlock.New(store).Mutex(t.Name())
				group.Go(func() {
					if err := store.Ping(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			for i := range mutexes {
				lock, err := mutexes[i].TryLock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				for j := range mutexes {
					if _, err := mutexes[j].TryLock(t.Context()); !errors.Is(err, pathlock.ErrConflict) {
						t.Errorf("%d while %d holds: %v, want a conflict", j, i, err)
					}
				}
				if err := lock.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// open opens a store for the time of the test.
func open(t *testing.T, url string, opts ...anystore.Option) *anystore.Store {
	t.Helper()
	store, err := anystore.Open(t.Context(), url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return store
}
