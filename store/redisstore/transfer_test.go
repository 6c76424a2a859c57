package redisstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
)

// give requires that a transfer succeeds.
func give(t *testing.T, s *Store, from, to pathlock.Acquisition, lease time.Duration) pathlock.Transferred {
	t.Helper()
	got, err := s.Transfer(t.Context(), pathlock.Transfer{Tree: from.Tree, From: from.Owner, To: to.Owner, Lease: lease})
	if err != nil {
		t.Fatalf("transfer: %v", err)
	}
	return got
}

// TestTransferOfGate: the gate key becomes the new owner's, with its note, and ends with the lease.
func TestTransferOfGate(t *testing.T) {
	store, tree := newStore(t), newTree(t)
	from, to := askGate(tree), askGate(tree)
	from.Note = "nightly export"
	take(t, store, from)
	got := give(t, store, from, to, long/2)
	if len(got.Grants) != 1 || !got.Grants[0].Gate || got.Left > long/2 || got.Left < long/2-patience {
		t.Errorf("transferred %+v, want the gate for %v", got, long/2)
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
	if keys := keysOf(t, store, tree); len(keys) != 1 {
		t.Errorf("left behind: %v, want the fence alone", keys)
	}
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

// TestTransferSetsWhenKeysEnd: the tree's keys live as long as the last lease, also if that has
// become shorter.
func TestTransferSetsWhenKeysEnd(t *testing.T) {
	for _, shared := range []bool{false, true} {
		store, tree := newStore(t), newTree(t)
		from := ask(tree, x("/a"))
		from.Lease = long
		take(t, store, from)
		if shared {
			other := ask(tree, x("/b"))
			other.Lease = long / 4
			take(t, store, other)
		}
		give(t, store, from, from, long/2)
		for _, key := range keysOf(t, store, tree) {
			if strings.HasSuffix(key, fenceKey) {
				continue
			}
			if ttl := store.client.PTTL(t.Context(), key).Val(); ttl > long/2+time.Second || ttl < long/2-patience {
				t.Errorf("%s lives for %v, want %v", key, ttl, long/2)
			}
		}
		requireConsistent(t, store, tree)
	}
}
