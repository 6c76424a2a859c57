package gormplugintest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// checkEnds races the end of the context, or a failing COMMIT, with everything else:
// whatever wins, the transaction has ended before the locks are let go, and they are let go once.
func checkEnds(t *testing.T, d Database) {
	const repetitions = 200
	t.Run("cancelled at any moment", func(t *testing.T) {
		grants := new(firstGrant)
		w := newWorld(t, d, settings{observer: grants})
		committed := 0
		for i := range repetitions {
			w.trace.reset()
			ctx, cancel := context.WithCancel(context.Background())
			tx := w.db.WithContext(ctx).Begin()
			w.must(tx.Error)
			// In turn: at once, when the locks are granted, and when everything has been written.
			granted, written := grants.next(), make(chan struct{})
			var cancelled sync.WaitGroup
			cancelled.Go(func() {
				switch i % 3 {
				case 1:
					select {
					case <-granted:
					case <-written: // it failed before
					}
				case 2:
					<-written
				}
				cancel()
			})
			err := tx.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error
			close(written)
			if err == nil {
				err = tx.Commit().Error
			} else {
				tx.Rollback()
			}
			cancelled.Wait()
			w.settled(err)
			if err == nil {
				committed++
				w.must(w.db.Unscoped().Where("plan_id = ? AND name = 'a'", w.root.PlanID).Delete(&Suite{}).Error)
			}
		}
		t.Logf("%d of %d were committed in time", committed, repetitions)
	})
	t.Run("cancelled during COMMIT", func(t *testing.T) {
		w := newWorld(t, d, settings{})
		for range repetitions / 10 {
			w.trace.reset()
			ctx, cancel := context.WithCancel(context.Background())
			tx := w.db.WithContext(ctx).Begin()
			w.must(tx.Create(&Suite{ParentID: &w.root.ID, Name: "a"}).Error)
			w.trace.insteadOfCommit(func() error {
				cancel()
				if got := w.held(); got != "X /a" {
					w.Errorf("during COMMIT, %q is held", got)
				}
				return nil
			}, func() error { return nil })
			w.must(tx.Commit().Error)
			w.settled(nil)
			w.must(w.db.Unscoped().Where("plan_id = ? AND name = 'a'", w.root.PlanID).Delete(&Suite{}).Error)
		}
	})
}

// down is a lock store that stops answering.
type down struct {
	pathlock.Store
	out atomic.Bool
}

// Acquire implements [pathlock.Store].
func (d *down) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	if d.out.Load() {
		return pathlock.Grant{}, pathlock.ErrUnavailable
	}
	return d.Store.Acquire(ctx, a)
}

// checkStoreDown checks that nothing is written while the lock store does not answer.
func checkStoreDown(t *testing.T, d Database) {
	store := &down{Store: memstore.New()}
	w := newWorld(t, d, settings{store: store})
	a := w.build("/a")
	for name, write := range map[string]func(db *gorm.DB) error{
		"create": func(db *gorm.DB) error { return db.Create(&Suite{ParentID: &a.ID, Name: "b"}).Error },
		"update": func(db *gorm.DB) error { return db.Model(&Suite{ID: a.ID}).Update("name", "b").Error },
		"delete": func(db *gorm.DB) error { return db.Delete(&Suite{}, a.ID).Error },
	} {
		t.Run(name, func(t *testing.T) {
			store.out.Store(true)
			defer store.out.Store(false)
			w.fails(write(w.db), pathlock.ErrUnavailable)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				w.fails(write(tx), pathlock.ErrUnavailable)
				return nil // whoever goes on and commits has written nothing
			}))
			w.has("/a")
		})
	}
}

// settled checks that no lock was let go while the transaction had not ended, that each was let go
// once, and that nothing is left open.
func (w *world) settled(err error) {
	w.Helper()
	events := strings.Fields(w.trace.String())
	open, grants, releases := 0, 0, 0
	for _, e := range events {
		switch e {
		case "begin":
			open++
		case "commit", "rollback":
			open--
		case "grant":
			grants++
		case "release":
			releases++
			if open != 0 {
				w.Fatalf("let go before the end (error %v): %v", err, events)
			}
		}
	}
	if grants != releases || open != 0 {
		w.Fatalf("%d grants, %d releases, %d transactions left open (error %v): %v", grants, releases, open, err, events)
	}
	pool, err := w.db.DB()
	w.must(err)
	if n := pool.Stats().InUse; n != 0 {
		w.Fatalf("%d connections are in use: %v", n, events)
	}
}

// firstGrant is an observer that tells of the first grant from now on.
type firstGrant struct {
	pathlock.NopObserver
	mu sync.Mutex
	ch chan struct{}
}

// next returns a channel that the next grant closes.
func (g *firstGrant) next() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ch = make(chan struct{})
	return g.ch
}

// Granted implements [pathlock.Observer].
func (g *firstGrant) Granted(context.Context, pathlock.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ch != nil {
		close(g.ch)
		g.ch = nil
	}
}
