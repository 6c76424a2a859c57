package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// fragile is a lock store that panics at a call of Acquire.
type fragile struct {
	pathlock.Store
	left atomic.Int64 // until the panic; 0 is never
}

// Acquire implements [pathlock.Store].
func (s *fragile) Acquire(ctx context.Context, a pathlock.Acquisition) (pathlock.Grant, error) {
	if s.left.Load() > 0 && s.left.Add(-1) == 0 {
		panic("in the lock store")
	}
	return s.Store.Acquire(ctx, a)
}

// jumpy is an observer that panics in every method.
type jumpy struct{}

// Acquiring implements [pathlock.Observer].
func (jumpy) Acquiring(context.Context, pathlock.Event) context.Context { panic("Acquiring") }

// Waiting implements [pathlock.Observer].
func (jumpy) Waiting(context.Context, pathlock.Event) { panic("Waiting") }

// Granted implements [pathlock.Observer].
func (jumpy) Granted(context.Context, pathlock.Event) { panic("Granted") }

// Refused implements [pathlock.Observer].
func (jumpy) Refused(context.Context, pathlock.Event) { panic("Refused") }

// Lost implements [pathlock.Observer].
func (jumpy) Lost(context.Context, pathlock.Event) { panic("Lost") }

// Released implements [pathlock.Observer].
func (jumpy) Released(context.Context, pathlock.Event) { panic("Released") }

// Step implements [pathlock.Observer].
func (jumpy) Step(ctx context.Context, _ pathlock.Step) (context.Context, func(error)) {
	return ctx, func(error) { panic("Step") }
}

// Answered implements [pathlock.Observer].
func (jumpy) Answered(context.Context, pathlock.Failure) { panic("Answered") }

// checkStorePanics has the lock store and the locker's observers panic. Every world checks at its
// end that no lock is left.
func checkStorePanics(t *testing.T, d Database) {
	// The copy of a row to another tree needs both, of which the one is locked when the other
	// panics.
	across := func(db *gorm.DB, a, elsewhere *Suite) error {
		_, err := gormplugin.Copy(db, &Suite{}, a.ID, gormplugin.Below(elsewhere.ID))
		return err
	}
	for at := int64(1); at <= 2; at++ {
		for _, within := range []bool{false, true} {
			t.Run(fmt.Sprintf("the lock store, at tree %d, in a transaction: %v", at, within), func(t *testing.T) {
				store := &fragile{Store: memstore.New()}
				w := newWorld(t, d, settings{store: store})
				a, elsewhere := w.build("/a"), w.newPlan()
				panicked := any(nil)
				func() {
					defer func() { panicked = recover() }()
					store.left.Store(at)
					if !within {
						_ = across(w.db, a, elsewhere)
						return
					}
					_ = w.db.Transaction(func(tx *gorm.DB) error { return across(tx, a, elsewhere) })
				}()
				if panicked == nil {
					t.Error("the panic was swallowed, or did not happen")
				}
				w.has("/a")
				w.must(across(w.db, a, elsewhere))
			})
		}
	}
	t.Run("observers", func(t *testing.T) {
		w := newWorld(t, d, settings{observer: jumpy{}})
		a, elsewhere := w.build("/a"), w.newPlan()
		failed := errors.New("failed")
		w.fails(w.db.Transaction(func(tx *gorm.DB) error {
			w.must(across(tx, a, elsewhere))
			return failed
		}), failed)
		w.must(across(w.db, a, elsewhere))
		w.has("/a")
	})
}
