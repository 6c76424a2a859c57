package gormplugintest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/offstore"
	"gorm.io/gorm"
)

// checkIDPathStorm runs random writes on trees with paths of ids, under a store that grants
// everything.
func checkIDPathStorm(t *testing.T, d Database) {
	const workers, each = 4, 40
	w := newWorld(t, d, settings{store: offstore.New()})
	first := []int64{w.entry(w.db, 0, "a").ID, w.entry(w.db, 0, "b").ID}
	for i := range 8 {
		first = append(first, w.entry(w.db, first[i/2], strconv.Itoa(i)).ID)
	}
	for _, id := range first {
		s := &Shelf{DriveID: w.drive(), Name: strconv.FormatInt(id, 10)}
		w.must(w.db.Create(s).Error)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	outcomes := make([]outcome, workers)
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for range each {
				outcomes[i].add(t, gormplugin.Transaction(t.Context(), w.db, func(tx *gorm.DB) error {
					if random.IntN(2) == 0 {
						return write(tx, random, w.drive(), &Entry{}, func(parent int64, name string) any {
							return &Entry{ParentID: parent, Name: name}
						})
					}
					return write(tx, random, w.drive(), &Shelf{}, func(parent int64, name string) any {
						return &Shelf{ParentID: &parent, Name: name}
					})
				}))
			}
		})
	}
	all.Wait()
	report(t, outcomes)
	w.soundIn(entries, shelves, shelvesIDs)
}

// write does a random operation on random rows of a model.
func write(tx *gorm.DB, random *rand.Rand, drive string, model any, row func(parent int64, name string) any) error {
	var ids []int64
	if err := tx.Model(model).Where("drive_id = ?", drive).Order("id").Pluck("id", &ids).Error; err != nil {
		return err
	}
	if len(ids) == 0 {
		return nil // a deletion took the last ones
	}
	one, other := ids[random.IntN(len(ids))], ids[random.IntN(len(ids))]
	switch random.IntN(6) {
	case 0:
		return tx.Model(model).Where("id = ?", one).Update("name", fmt.Sprintf("n%d", random.IntN(1000))).Error
	case 1, 2:
		return tx.Model(model).Where("id = ?", one).Update("parent_id", other).Error
	case 3:
		if len(ids) < 8 {
			return nil
		}
		return tx.Where("id = ?", one).Delete(model).Error
	default:
		return tx.Create(row(one, fmt.Sprintf("n%d", random.IntN(1000)))).Error
	}
}
