package sqlstore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testlock"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// Any number of processes may create the table at once, in a database that nobody has opened yet.
func TestCreateAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		for range 5 {
			d := d.another(t)
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					s, err := sqlopen.Open(d.url)
					if err != nil {
						t.Error(err)
						return
					}
					testerr.None(t, errors.Join(s.Create(t.Context()), s.Check(t.Context()), s.Close(t.Context())))
				})
			}
			all.Wait()
			s := d.store(t)
			if trees, err := s.Trees(t.Context()); err != nil || len(trees) > 0 {
				t.Errorf("Check has left %v, %v", trees, err)
			}
		}
	})
}

// Check says what is wrong. A table that goes away, as by a failover to an empty server, is made
// again by a store that makes tables: its locks are lost, and fences grow.
func TestTablesThatAreMissing(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		s, err := sqlopen.Open(d.url)
		testerr.Must(t, err)
		defer func() { _ = s.Close(t.Context()) }()
		db := d.pool(t)
		faulty := func(faults ...string) {
			t.Helper()
			err := s.Check(t.Context())
			testerr.MustBe(t, "Check", err, sqlstore.ErrTables)
			if missing := slices.Contains(faults, "no program has made the table"); errors.Is(err, sqlstore.ErrNoTable) != missing {
				t.Errorf("Check: %v, want that it matches ErrNoTable: %t", err, missing)
			}
			for _, fault := range append(faults, "Store.Create") {
				if !strings.Contains(err.Error(), fault) {
					t.Errorf("Check: %v, want it to say: %s", err, fault)
				}
			}
			if err := s.Ping(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) || !strings.Contains(err.Error(), "Store.Create") {
				t.Errorf("Ping: %v", err)
			}
		}
		faulty("pathlock_trees", "no program has made the table")
		makes, err := sqlopen.Open(d.url, sqlstore.WithAutoCreate())
		testerr.Must(t, err)
		defer func() { _ = makes.Close(t.Context()) }()
		held := testlock.Ask(testlock.Tree(t), x("/a"))
		fence := testlock.Take(t, makes, held).Fence
		testerr.Is(t, "Check beside a store that makes tables", s.Check(t.Context()), nil)
		run(t, db, "DROP TABLE pathlock_trees")
		lost, err := makes.Renew(t.Context(), held.Tree, []pathlock.Lease{{Owner: held.Owner, For: testlock.Long}})
		if err != nil || len(lost) != 1 {
			t.Errorf("the renewal says that %v is lost, error %v", lost, err)
		}
		if again := testlock.Take(t, s, held).Fence; again <= fence {
			t.Errorf("the fence %d comes after %d", again, fence)
		}
		run(t, db, "ALTER TABLE pathlock_trees RENAME COLUMN version TO revision")
		faulty("pathlock_trees", "version")
	})
}

// The row of a tree is removed when the tree has been empty for a while. Fences still grow.
func TestSweep(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		s := d.store(t, sqlstore.WithKeep(0))
		db := d.pool(t)
		rows := func() (n int) {
			t.Helper()
			testerr.Must(t, db.QueryRowContext(t.Context(), "SELECT count(*) FROM pathlock_trees").Scan(&n))
			return n
		}
		sweep := func() {
			t.Helper()
			testerr.Must(t, s.Sweep(t.Context()))
		}
		tree := testlock.Tree(t)
		var last uint64
		testlock.Take(t, s, testlock.Ask(testlock.Tree(t), x("/a")))
		for range 3 {
			req := testlock.Ask(tree, x("/a"))
			fence := testlock.Take(t, s, req).Fence
			if fence <= last {
				t.Errorf("fence %d after %d", fence, last)
			}
			last = fence
			testlock.Release(t, s, req)
			before := rows()
			if sweep(); before != 2 || rows() != 1 {
				t.Errorf("%d rows of trees, and %d after a sweep, want that of the tree in use", before, rows())
			}
		}
		crashed := testlock.Ask(tree, x("/a"))
		crashed.Lease = time.Millisecond
		testlock.Take(t, s, crashed)
		testserver.Await(t, "the ticket of a crashed process is gone", func() bool { sweep(); return rows() == 1 })
	})
}

// A row that somebody has locked keeps no other rows from going.
func TestSweep_byPortions(t *testing.T) {
	eachServer(t, func(t *testing.T, d database) {
		s, db := d.store(t, sqlstore.WithKeep(0), sqlstore.WithSweepPortion(1)), d.pool(t)
		for range 3 {
			req := testlock.Ask(testlock.Tree(t), x("/a"))
			testlock.Take(t, s, req)
			testlock.Release(t, s, req)
		}
		tx, err := db.BeginTx(t.Context(), nil)
		testerr.Must(t, err)
		defer func() { _ = tx.Rollback() }()
		var last, left []byte
		testerr.Must(t, tx.QueryRowContext(t.Context(), "SELECT tree FROM pathlock_trees ORDER BY ends DESC LIMIT 1 FOR UPDATE").Scan(&last))
		ctx, cancel := context.WithTimeout(t.Context(), busy)
		defer cancel()
		if err := s.Sweep(ctx); err == nil {
			t.Error("a locked row was removed")
		}
		testerr.Must(t, db.QueryRowContext(t.Context(), "SELECT tree FROM pathlock_trees").Scan(&left))
		if !slices.Equal(last, left) {
			t.Errorf("%x is left, want %x alone", left, last)
		}
	})
}
