package topology

import (
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// TestReplicas: with WithReplicas, a grant that no replica has is none, whether the request was
// granted at once or had to wait.
func TestReplicas(t *testing.T) {
	forEachReplicated(t, func(t *testing.T, d *replicated) {
		store := open(t, d.client(t), redisstore.WithReplicas(1, 500*time.Millisecond))
		tree := newTree(t)
		replicas := d.replicas(redisstore.GateKey(tree))
		first := ask(tree, x("/a"))
		// The replicas may be getting in step still.
		if err := persist(t, func() error { _, err := store.Acquire(t.Context(), first); return err }); err != nil {
			t.Fatal(err)
		}
		w := queue(t, store, ask(tree, x("/a")))

		for _, replica := range replicas {
			replica.Pause()
		}
		if err := store.Release(t.Context(), tree, first.Owner, first.Grant); err != nil {
			t.Errorf("release: %v; a release does not wait for replicas", err)
		}
		<-w.over
		if !errors.Is(w.err, pathlock.ErrUnavailable) {
			t.Errorf("a waiter whose grant no replica has: fence %d, error %v; want ErrUnavailable", w.grant.Fence, w.err)
		}
		if _, err := store.Acquire(t.Context(), ask(tree, x("/b"))); !errors.Is(err, pathlock.ErrUnavailable) {
			t.Errorf("a grant that no replica has: %v, want ErrUnavailable", err)
		}
		holders(t, store, tree, 0)

		for _, replica := range replicas {
			replica.Resume()
		}
		last := ask(tree, x("/a"), x("/b"))
		if err := persist(t, func() error { _, err := store.Acquire(t.Context(), last); return err }); err != nil {
			t.Fatalf("acquire when the replicas are back: %v", err)
		}
		release(t, store, last)
	})
}
