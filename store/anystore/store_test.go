package anystore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// A locker sees the same of a store that was opened by its URL: whether a call is worth a
// goroutine.
func TestOnlyStoresOfThisProcessAreLocal(t *testing.T) {
	for url, local := range map[string]bool{"memory://": true, "off://": true, "redis://127.0.0.1:1/0": false} {
		store := open(t, url)
		if store.Local() != local {
			t.Errorf("%s is local: %t, want %t", url, store.Local(), local)
		}
	}
}

// Two lockers on one URL exclude each other.
func TestProcessesMeetByTheirURL(t *testing.T) {
	url := testserver.Redis(t)
	tree, err := pathlock.NewTree("anystore", t.Name())
	if err != nil {
		t.Fatal(err)
	}
	first, second := pathlock.New(open(t, url)), pathlock.New(open(t, url))
	lock, err := first.Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
	if err != nil {
		t.Fatal(err)
	}
	request := pathlock.Request{Tree: tree, Claims: []pathlock.Claim{pathlock.X(pathlock.Root())}, Wait: pathlock.NoWait}
	if _, err := second.Acquire(t.Context(), request); !errors.Is(err, pathlock.ErrConflict) {
		t.Errorf("%v, want a conflict", err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lock, err = second.Acquire(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// What only one kind of store can do is at hand.
func TestTheStoreItselfIsAtHand(t *testing.T) {
	if _, ok := open(t, "redis://127.0.0.1:1/0").TransferStore.(*redisstore.Store); !ok {
		t.Error("it is no *redisstore.Store")
	}
}

// open opens a store for the time of the test.
func open(t *testing.T, url string) *anystore.Store {
	t.Helper()
	store, err := anystore.Open(t.Context(), url)
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
