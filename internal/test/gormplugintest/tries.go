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
			refuse := func(c call) error {
				switch {
				case c.after:
				case c.kind == "begin":
					tries++
				case c.kind == "commit":
					c.abort()
					return d.GivenUp
				}
				return nil
			}
			w.trace.intercept(refuse)
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
			ctx, cancel := context.WithCancel(t.Context())
			w.trace.intercept(func(c call) error {
				if c.kind != "commit" || c.after {
					return nil
				}
				c.abort()
				cancel()
				return d.GivenUp
			})
			ended := gormplugin.Transaction(ctx, w.db, func(tx *gorm.DB) error { return tx.Create(&handed).Error })
			w.fails(ended, gormplugin.ErrRetry)
			w.fails(ended, context.Canceled)
			w.trace.intercept(refuse)
			// Maps are handed over again as they were, too.
			row := map[string]any{"parent_id": w.root.ID, "name": "new"}
			w.fails(w.db.Model(&Suite{}).Create(row).Error, gormplugin.ErrRetry)
			if most > 1 && len(row) != 2 {
				t.Errorf("got back %v", row)
			}
			w.trace.intercept(nil)
			tries = 0
			w.fails(gormplugin.Transaction(t.Context(), w.db, func(*gorm.DB) error { tries++; return errStop }), errStop)
			if tries != 1 {
				t.Errorf("%d tries of what would fail again", tries)
			}
			w.has()
		})
	}
}
