package gormplugintest

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// comingAndGoing returns a lock store that is away again and again, as a server does behind a bad
// network. Who asks meanwhile goes on without it: so owners that it knows, and owners that it does
// not know, write at once.
func comingAndGoing(every time.Duration) pathlock.Store {
	begun := time.Now()
	return withoutStore(every/5, func() bool { return time.Since(begun)/every%2 == 1 })
}

// withoutStore returns a lock store without which requests go on while it is away.
func withoutStore(retry time.Duration, away func() bool) pathlock.Store {
	return pathlock.Degrade(&absent{memstore.New(), away}, pathlock.Degradation{Retry: retry, Log: slog.New(slog.DiscardHandler)})
}

// absent is a store that grants nothing while it is away.
type absent struct {
	pathlock.Store
	away func() bool
}

// Acquire implements [pathlock.Store].
func (a *absent) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if a.away() {
		return pathlock.Grant{}, fmt.Errorf("%w: not now", pathlock.ErrUnavailable)
	}
	return a.Store.Acquire(ctx, req)
}

// checkWithoutStore writes while the lock store is away: fences do not fall. A COMMIT waits for a
// store that has fallen silent as long as for one lock, however many there are.
func checkWithoutStore(t *testing.T, d Database) {
	var away atomic.Bool
	w := newWorld(t, d, settings{store: withoutStore(0, away.Load)})
	old := w.build("/a/b")
	fence := func(path string) uint64 {
		var s Suite
		w.must(w.db.Take(&s, "plan_id = ? AND path = ?", w.root.PlanID, path).Error)
		return s.Fence
	}
	before := fence("/a/b")
	away.Store(true)
	w.must(w.db.Model(&Suite{ID: old.ID}).Update("name", "c").Error)
	w.must(w.db.Omit("path", "version").Save(&Suite{ID: old.ID, PlanID: old.PlanID, ParentID: old.ParentID, Name: "d", Fence: 1}).Error)
	w.suiteIn(w.db, "e")
	w.has("/a", "/a/d", "/e")
	if now := fence("/a/d"); before == 0 || now != before || fence("/e") != 0 {
		w.Errorf("the fence was %d and is %d", before, now)
	}
	silent := &testlock.Watched{Store: memstore.New()}
	w = newWorld(t, d, settings{store: silent})
	tx := w.db.Begin()
	for _, name := range []string{"a", "b", "c"} {
		w.suiteIn(tx, name)
	}
	var releases atomic.Int32
	committed, speaks := make(chan error), make(chan struct{})
	silent.Set(func(_ context.Context, call string) error {
		if call != "release" {
			return nil
		}
		if releases.Add(1) > 1 {
			<-speaks
			return nil
		}
		return pathlock.ErrUnavailable
	})
	go func() { committed <- tx.Commit().Error }()
	select {
	case err := <-committed:
		close(speaks)
		w.must(err)
	case <-time.After(testlock.Patience):
		close(speaks)
		t.Errorf("the COMMIT waits for more than one release: %v", <-committed)
	}
	w.has("/a", "/b", "/c")
	w.nothingHeld()
}
