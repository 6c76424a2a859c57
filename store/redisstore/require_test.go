package redisstore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pathlock-go/pathlock"
)

// requireFree requires that a tree has nothing left but its fence.
func requireFree(t *testing.T, s *Store, tree pathlock.Tree) {
	t.Helper()
	if left := keysLeft(t, s, tree); len(left) > 1 {
		t.Errorf("left behind: %v, want the fence alone", left)
	}
}

// requireHeld requires that an owner has the given grants, and nobody else anything.
func requireHeld(t *testing.T, s *Store, want ...pathlock.Acquisition) {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context(), want[0].Tree)
	if err != nil {
		t.Fatal(err)
	}
	var got, wanted []string
	for _, h := range snapshot.Holders {
		got = append(got, fmt.Sprint(h.Owner, h.Gate, h.Claims))
	}
	for _, req := range want {
		wanted = append(wanted, fmt.Sprint(req.Owner, req.Gate, req.Claims))
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("held: %v, want %v", got, wanted)
	}
}
