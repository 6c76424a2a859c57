package gormplugintest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
	"gorm.io/gorm"
)

// checkStorm runs random operations of all kinds at once on a small tree, under a
// store that locks and under one that grants everything, and reads the tree afterwards.
func checkStorm(t *testing.T, d Database) {
	const workers, each = 4, 60
	for name, store := range map[string]pathlock.Store{
		"a real store":                   memstore.New(),
		"a store that grants everything": offstore.New(),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, d, settings{store: store})
			for _, p := range []string{"/a/b/c", "/a/d", "/e/f"} {
				w.build(p)
			}
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			outcomes := make([]outcome, workers)
			var all sync.WaitGroup
			for i := range workers {
				all.Go(func() {
					random := rand.New(rand.NewPCG(seed, uint64(i)))
					for range each {
						outcomes[i].add(t, gormplugin.Transaction(t.Context(), w.db, func(tx *gorm.DB) error { return w.something(tx, random) }))
					}
				})
			}
			all.Wait()
			for _, o := range outcomes {
				t.Log(o)
				if o.succeeded == 0 {
					t.Error("a worker did nothing")
				}
			}
			w.sound()
		})
	}
}

// something does a random operation on random rows.
func (w *world) something(tx *gorm.DB, random *rand.Rand) error {
	var ids []int64
	if err := tx.Model(&Suite{}).Where("plan_id = ?", w.root.PlanID).Order("id").Pluck("id", &ids).Error; err != nil {
		return err
	}
	one, other := ids[random.IntN(len(ids))], ids[random.IntN(len(ids))]
	name := fmt.Sprintf("n%d", random.IntN(12))
	switch random.IntN(9) {
	case 0, 1:
		if one == w.root.ID {
			return nil
		}
		return tx.Model(&Suite{}).Where("id = ?", one).Update("name", name).Error
	case 2, 3:
		if one == w.root.ID {
			return nil
		}
		return tx.Model(&Suite{}).Where("id = ?", one).Update("parent_id", other).Error
	case 4:
		if one == w.root.ID || len(ids) < 6 {
			return nil
		}
		return tx.Delete(&Suite{}, one).Error
	case 5:
		if len(ids) > 60 {
			return nil
		}
		_, err := gormplugin.Copy(tx, &Suite{}, one, other, gormplugin.CopyAs(name))
		return err
	default:
		return tx.Create(&Suite{ParentID: &one, Name: name}).Error
	}
}
