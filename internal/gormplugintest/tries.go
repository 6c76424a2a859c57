package gormplugintest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// errStop makes a transaction roll back.
var errStop = errors.New("stop")

// checkTries checks how often what the database gives up is tried, and what it leaves in the
// caller's struct.
func checkTries(t *testing.T, d Database) {
	for _, most := range []int{1, 4} {
		t.Run(fmt.Sprintf("MaxTries(%d)", most), func(t *testing.T) {
			if d.GivenUp == nil {
				t.Skip("the database's error is not known")
			}
			w := newWorld(t, d, settings{options: []gormplugin.Option{gormplugin.MaxTries(most)}})
			tries := 0
			w.trace.intercept(func(c call) error {
				switch {
				case c.after:
				case c.kind == "begin":
					tries++
				case c.kind == "commit":
					c.abort()
					return d.GivenUp
				}
				return nil
			})
			handed := Suite{ParentID: &w.root.ID, Name: "new"}
			given := handed
			w.fails(w.db.Create(&handed).Error, gormplugin.ErrRetry)
			if tries != most || most > 1 && handed != given {
				t.Errorf("%d tries, handed over %+v, got back %+v", tries, given, handed)
			}
			tries, handed = 0, given
			w.fails(gormplugin.Transaction(t.Context(), w.db, func(tx *gorm.DB) error {
				if handed != given {
					t.Errorf("the try begins with %+v", handed)
				}
				return tx.Create(&handed).Error
			}), gormplugin.ErrRetry)
			if tries != gormplugin.DefaultMaxTries || handed != given {
				t.Errorf("%d tries, got back %+v", tries, handed)
			}
			// Maps are handed over again as they were, too.
			row := map[string]any{"parent_id": w.root.ID, "name": "new"}
			w.fails(w.db.Model(&Suite{}).Create(row).Error, gormplugin.ErrRetry)
			if most > 1 && len(row) != 2 {
				t.Errorf("got back %v", row)
			}
			w.trace.intercept(nil)
			w.has()
		})
	}
	t.Run("Transaction, and what it runs again", func(t *testing.T) {
		w := newWorld(t, d, settings{})
		for err, want := range map[error]int{gormplugin.ErrRetry: gormplugin.DefaultMaxTries, errStop: 1} {
			runs := 0
			w.fails(gormplugin.Transaction(t.Context(), w.db, func(*gorm.DB) error { runs++; return err }), err)
			if runs != want {
				t.Errorf("%v: %d runs, want %d", err, runs, want)
			}
		}
		w.must(w.db.Transaction(func(tx *gorm.DB) error {
			a := &Suite{ParentID: &w.root.ID, Name: "a"}
			w.must(tx.Create(a).Error)
			// Whatever the context, statements of a transaction do not stand in each other's way.
			w.must(tx.WithContext(context.Background()).Create(&Suite{ParentID: &a.ID, Name: "b"}).Error)
			return tx.Model(a).Update("name", "c").Error
		}))
		// What has ended is not committed, however late somebody notices.
		ctx, cancel := context.WithCancel(t.Context())
		tx := w.db.WithContext(ctx).Begin()
		w.suiteIn(tx, "x")
		cancel()
		w.fails(tx.Commit().Error, context.Canceled)
		w.has("/c", "/c/b")
	})
}
