package admin_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/admin"
)

// Where a look fails, operators look for the cause in the log, and find one line.
func TestALookThatFailsIsLoggedOnce(t *testing.T) {
	f := newFixture(t, anybody())
	f.store.failBy(errors.New("the store is on fire"))
	for range 10 {
		f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", "").problem(t, 503, "lock-store-unavailable")
	}
	log := f.awaitLog("the store is on fire")
	if n := strings.Count(log, "the store is on fire"); n != 1 || !strings.Contains(log, "tree=testplan/7") {
		t.Errorf("%d lines: %s", n, log)
	}
}

type panicking struct{ admin.Locks }

func (panicking) Snapshot(context.Context, pathlock.Tree) (pathlock.Snapshot, error) {
	panic("broken store")
}

func TestALookThatPanicsIsLoggedWithItsStack(t *testing.T) {
	f := newFixture(t, anybody())
	config := anybody()
	config.Log = slog.New(slog.NewTextHandler(f.log, nil))
	page, err := admin.New(panicking{}, config)
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	f.server.Config.Handler = page
	f.send("GET", "/admin/locks/api/tree?namespace=testplan&id=7", "").problem(t, 503, "lock-store-unavailable")
	if log := f.awaitLog("broken store"); !strings.Contains(log, "look_test.go") {
		t.Errorf("the log: %s", log)
	}
}
