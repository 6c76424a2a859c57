package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/command"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// How long something has lasted, and will last, is by the store's clock, which may be behind this
// host's.
func TestSpans_AreByTheStoresClock(t *testing.T) {
	tree, err := pathlock.NewTree("testplan", "plan-001")
	testerr.Must(t, err)
	now := time.Now().Add(-5 * time.Minute)
	entry := func(owner pathlock.Owner) pathlock.Entry {
		return pathlock.Entry{
			Owner: owner, Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath("/a"))), Note: "work",
			Since: now.Add(-3 * time.Second), Until: now.Add(27 * time.Second),
		}
	}
	got := command.Texts(pathlock.Snapshot{
		Tree: tree, Now: now, Holders: []pathlock.Entry{entry("holder")}, Waiters: []pathlock.Entry{entry("waiter")},
	})
	if strings.Contains(got, "5m") || strings.Count(got, "27s") != 4 || strings.Count(got, "3s") != 8 {
		t.Errorf("want 3s and 27s everywhere:\n%s", got)
	}
}
