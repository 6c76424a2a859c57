package gormplugintest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

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

// checkStoreDown checks that nothing is written while the lock store does not answer, in a
// transaction that is committed all the same, too.
func checkStoreDown(t *testing.T, d Database) {
	store := &down{Store: memstore.New()}
	w := newWorld(t, d, settings{store: store})
	at := w.changeable()
	before := w.state()
	store.out.Store(true)
	for _, c := range changes() {
		w.isA(c.run(w.db, at), pathlock.ErrUnavailable)
		w.must(w.db.Transaction(func(tx *gorm.DB) error {
			w.isA(c.run(tx, at), pathlock.ErrUnavailable)
			return nil
		}))
	}
	if now := w.state(); now != before {
		t.Errorf("the tree was %s and is %s", before, now)
	}
	store.out.Store(false)
}
