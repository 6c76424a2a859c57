package gormplugintest

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
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

// checkWithoutStore writes while the lock store is away: fences do not fall.
func checkWithoutStore(t *testing.T, d Database) {
	var away atomic.Bool
	w := newWorld(t, d, settings{store: withoutStore(0, away.Load)})
	old := w.build("/a/b")
	outdated := *old
	outdated.Fence, outdated.Name = 1, "d"
	away.Store(true)
	fence := func(id int64, want uint64) {
		w.Helper()
		var s Suite
		if w.must(w.db.Take(&s, id).Error); s.Fence != want || s.Fence == 0 && id == old.ID {
			w.Errorf("%s has the fence %d, want %d", s.Path, s.Fence, want)
		}
	}
	fence(old.ID, old.Fence)
	w.must(w.db.Model(&Suite{ID: old.ID}).Update("name", "c").Error)
	fence(old.ID, old.Fence)
	outdated.Path, outdated.Version = "", 0
	w.must(w.db.Omit("path", "version").Save(&outdated).Error)
	fence(old.ID, old.Fence)
	w.must(w.db.Transaction(func(tx *gorm.DB) error {
		return tx.Create(&Suite{ID: old.ID + 1000, ParentID: &old.ID, Name: "e"}).Error
	}))
	fence(old.ID+1000, 0)
	w.has("/a", "/a/d", "/a/d/e")
}
