package redisstore

import (
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// TestReleaseOfEnded: a grant whose lease has ended is no longer held, though nobody has come to
// reclaim it, and others keep the tree's keys alive.
func TestReleaseOfEnded(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	other, ended := ask(tree, x("/a")), ask(tree, x("/b"))
	take(t, store, other)
	ended.Lease = short
	take(t, store, ended)
	pass(t, store, short)
	if err := store.Release(t.Context(), tree, ended.Owner, ended.Grant); !errors.Is(err, pathlock.ErrNotHeld) {
		t.Errorf("release: %v, want ErrNotHeld", err)
	}
	requireConsistent(t, store, tree)
	release(t, store, other)
}

// TestKeysEndWithTheLastLease: the keys live no longer than the longest lease of those that still
// hold.
func TestKeysEndWithTheLastLease(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	first, longest, last := ask(tree, x("/a")), ask(tree, x("/b")), ask(tree, x("/c"))
	longest.Lease = 10 * long
	for _, req := range []pathlock.Acquisition{first, longest, last} {
		take(t, store, req)
	}
	for _, step := range []struct {
		req          pathlock.Acquisition
		least, limit time.Duration
	}{{first, 5 * long, 11 * long}, {longest, long / 2, 2 * long}} {
		release(t, store, step.req)
		for _, key := range store.keys.of(tree)[:2] { // locks and deadlines
			ttl, err := store.client.PTTL(t.Context(), key).Result()
			if err != nil || ttl < step.least || ttl > step.limit {
				t.Errorf("%s lives for %v, error %v; want %v to %v", key, ttl, err, step.least, step.limit)
			}
		}
	}
	release(t, store, last)
}
