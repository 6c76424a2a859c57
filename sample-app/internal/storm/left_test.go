package storm

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// A lock that nobody gives back is found, and those of other programs on the store are not.
func TestLeft(t *testing.T) {
	url := testserver.Redis(t)
	store, err := anystore.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	namespace := "storm-" + rand.Text()
	tree, err := pathlock.NewTree(namespace, "1")
	if err != nil {
		t.Fatal(err)
	}
	locker := pathlock.New(store)
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{namespace: 1, namespace + "x": 0} {
		if trees, err := left(t.Context(), Config{Locks: url}, "", name); err != nil || trees != want {
			t.Errorf("%d trees with locks, %v, want %d", trees, err, want)
		}
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if trees, err := left(t.Context(), Config{Locks: url}, "", namespace); err != nil || trees != 0 {
		t.Errorf("after the release: %d trees with locks, %v, want none", trees, err)
	}
}
