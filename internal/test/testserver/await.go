package testserver

import (
	"testing"
	"time"
)

// agreement is how long servers may take to agree on something. It bounds failures only.
const agreement = 30 * time.Second

// Await returns when a condition holds that servers bring about between themselves, and of which
// they tell nobody. It looks every few milliseconds.
func Await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	over := time.After(agreement)
	looks := time.NewTicker(10 * time.Millisecond)
	defer looks.Stop()
	for !holds() {
		select {
		case <-looks.C:
		case <-over:
			t.Fatalf("still not so after %v: %s", agreement, what)
		}
	}
}
