package gormplugintest

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// checkTries has the database give a statement up at every single call that the statement makes in
// its transaction: it is run again, from what it was handed at first.
func checkTries(t *testing.T, d Database) {
	if d.GivenUp == nil {
		t.Skip("the database's error is not known")
	}
	for _, change := range append(changes(), functions()...) {
		t.Run(change.name, func(t *testing.T) {
			w := newWorld(t, d, settings{})
			for n := 1; ; n++ {
				w.root = w.newPlan()
				for _, p := range change.rows {
					w.build(p)
				}
				statement := change.statement(w)
				before := w.state()
				var calls atomic.Int64
				w.trace.reset()
				begun, commits := false, 0
				w.trace.intercept(func(c call) error {
					begun = begun || c.kind == "begin"
					if c.kind == "commit" && c.after {
						commits++
					}
					if begun && !c.after && c.kind != "rollback" && calls.Add(1) == int64(n) {
						if c.kind == "commit" {
							c.abort()
						}
						return d.GivenUp
					}
					return nil
				})
				err := statement(w.db)
				w.trace.intercept(nil)
				w.must(err)
				w.settled(err)
				if w.state() == before || commits != 1 {
					t.Errorf("given up at call %d: committed %d times, the tree is %s", n, commits, w.state())
				}
				if calls.Load() < int64(n) {
					return
				}
			}
		})
	}
	t.Run("in a transaction of the caller's it is the caller's to try again", func(t *testing.T) {
		// The first error ends the transaction, the second one does not: nothing but the plugin
		// would keep a further try from succeeding.
		for _, failure := range []error{d.GivenUp, gormplugin.ErrRetry} {
			for _, change := range append(changes(), functions()...) {
				refuseWithin(t, d, change, failure)
			}
		}
	})
	t.Run("not for ever, and the values are those of before", func(t *testing.T) {
		for _, most := range []int{1, 4} {
			w := newWorld(t, d, settings{options: []gormplugin.Option{gormplugin.MaxTries(most)}})
			tries := 0
			w.trace.intercept(func(c call) error {
				if c.kind == "begin" && !c.after {
					tries++
				}
				if c.kind == "commit" && !c.after {
					c.abort()
					return d.GivenUp
				}
				return nil
			})
			handed := Suite{ParentID: &w.root.ID, Name: "new"}
			given := handed
			err := w.db.Create(&handed).Error
			w.fails(err, gormplugin.ErrRetry)
			if most > 1 && handed != given {
				t.Errorf("handed over %+v, got back %+v", given, handed)
			}
			tries = 0
			w.fails(gormplugin.Transaction(t.Context(), w.db, func(tx *gorm.DB) error {
				if handed.ID != 0 && most > 1 {
					t.Errorf("the try begins with %+v", handed)
				}
				return tx.Create(&handed).Error
			}), gormplugin.ErrRetry)
			if tries != gormplugin.DefaultMaxTries || handed.ID != 0 && most > 1 {
				t.Errorf("%d tries, got back %+v", tries, handed)
			}
			w.trace.intercept(nil)
			w.has()
		}
	})
}

// refuseWithin has the first call of a change in a transaction of the caller's fail, and every
// further one.
func refuseWithin(t *testing.T, d Database, change change, failure error) {
	t.Helper()
	w := newWorld(t, d, settings{})
	for _, p := range change.rows {
		w.build(p)
	}
	statement := change.statement(w)
	before := w.state()
	transactions, calls := 0, 0
	w.trace.intercept(func(c call) error {
		switch {
		case c.after, c.kind == "rollback":
		case c.kind == "begin":
			transactions++
		default:
			calls++
			return failure
		}
		return nil
	})
	err := w.db.Transaction(statement)
	w.trace.intercept(nil)
	most := 1
	if d.SoleWriter {
		most = 2 // such a database is asked whether the error has ended the transaction
	}
	if !errors.Is(err, gormplugin.ErrRetry) || transactions != 1 || calls > most {
		t.Errorf("%s: %d transactions, %d calls in them, and the error %v", change.name, transactions, calls, err)
	}
	if now := w.state(); now != before {
		t.Errorf("%s: the tree was %s and is %s", change.name, before, now)
	}
}
