package redisstore

import (
	"errors"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// TestTransferOfGate: the gate key becomes the new owner's, with its note, and ends with the lease.
func TestTransferOfGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	from, to := askGate(tree), askGate(tree)
	from.Note = "nightly export"
	take(t, store, from)
	got, err := store.Transfer(t.Context(), pathlock.Transfer{Tree: tree, From: from.Owner, To: to.Owner, Lease: long / 2})
	if err != nil || len(got.Grants) != 1 || !got.Grants[0].Gate || got.Left > long/2 || got.Left < long/2-patience {
		t.Errorf("transferred %+v, error %v; want the gate for %v", got, err, long/2)
	}
	key := store.keys.gate(tree)
	if value := store.client.Get(t.Context(), key).Val(); value != gateToken(to.Owner)+from.Note {
		t.Errorf("the gate key is %q", value)
	}
	if ttl := store.client.PTTL(t.Context(), key).Val(); ttl > long/2+time.Second || ttl < long/2-patience {
		t.Errorf("the gate key lives for %v, want %v", ttl, long/2)
	}
	requireConsistent(t, store, tree)
	to.Grant = from.Grant
	release(t, store, to)
	requireFree(t, store, tree)
}

// TestTransferOfLostGate: who has the gate, and has lost its key, has lost everything.
func TestTransferOfLostGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	from, to := askGate(tree), askGate(tree)
	take(t, store, from)
	if err := store.client.Del(t.Context(), store.keys.gate(tree)).Err(); err != nil {
		t.Fatal(err)
	}
	_, err := store.Transfer(t.Context(), pathlock.Transfer{Tree: tree, From: from.Owner, To: to.Owner})
	if !errors.Is(err, pathlock.ErrLost) {
		t.Errorf("error %v, want ErrLost", err)
	}
	requireConsistent(t, store, tree)
}
