package redisstore

import (
	"errors"
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

// requireConflict requires that a request is refused.
func requireConflict(t *testing.T, s *Store, req pathlock.Acquisition) {
	t.Helper()
	_ = conflictOf(t, s, req)
}

// conflictOf requires that a request is refused, and returns how.
func conflictOf(t *testing.T, s *Store, req pathlock.Acquisition) *pathlock.ConflictError {
	t.Helper()
	_, err := s.Acquire(t.Context(), req)
	var conflict *pathlock.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("acquire %v: %v, want a conflict", req.Claims, err)
	}
	return conflict
}
