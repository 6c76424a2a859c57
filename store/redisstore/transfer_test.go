package redisstore

import (
	"testing"

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
	requireConsistent(t, store, tree)
	to.Grant = from.Grant
	release(t, store, to)
	requireFree(t, store, tree)
}
