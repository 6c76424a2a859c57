package sqlstore_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// Any number of processes may create the tables at once.
func TestCreateAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		var wg sync.WaitGroup
		for range 8 {
			s, err := sqlopen.Open(d.url)
			if err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				if err := s.Create(t.Context()); err != nil {
					t.Error(err)
				}
				if err := s.Check(t.Context()); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		s := d.store(t)
		if trees, err := s.Trees(t.Context()); err != nil || len(trees) > 0 {
			t.Errorf("Check has left %v, %v", trees, err)
		}
		updates(t, s)
	})
}

// Check says what is wrong.
func TestCheck(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		s, err := sqlopen.Open(d.url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		db := d.pool(t)
		faulty := func(faults ...string) {
			t.Helper()
			err := s.Check(t.Context())
			if !errors.Is(err, sqlstore.ErrTables) {
				t.Fatalf("Check: %v, want ErrTables", err)
			}
			for _, fault := range faults {
				if !strings.Contains(err.Error(), fault) {
					t.Errorf("Check: %v, want it to say: %s", err, fault)
				}
			}
		}
		faulty("there is no table pathlock_trees", "Store.Create")
		if err := s.Ping(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) || !strings.Contains(err.Error(), "Store.Create") {
			t.Errorf("Ping without tables: %v", err)
		}
		if err := s.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("Check after Create: %v", err)
		}
		run(t, db, "ALTER TABLE pathlock_trees RENAME COLUMN ends TO lasts")
		faulty("pathlock_trees", "ends", "Store.Create")
		run(t, db, "ALTER TABLE pathlock_trees RENAME COLUMN lasts TO ends")
		run(t, db, "CREATE TABLE copied AS SELECT * FROM pathlock_trees") // without its key
		run(t, db, "DROP TABLE pathlock_trees")
		run(t, db, "ALTER TABLE copied RENAME TO pathlock_trees")
		faulty("pathlock_trees has no primary key")
	})
}

// A user who may only read is told so, and holds nothing.
func TestCheckOfRights(t *testing.T) {
	d := scratchPostgres(t)
	d.store(t)
	db := d.pool(t)
	role := scratchName()
	run(t, db, "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() { run(t, db, "DROP OWNED BY "+role); run(t, db, "DROP ROLE "+role) })
	run(t, db, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+role)
	s, err := sqlopen.Open(strings.Replace(d.url, "postgres@", role+"@", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for what, err := range map[string]error{
		"Check": s.Check(t.Context()),
		"Acquire": func() error {
			_, err := s.Acquire(t.Context(), ask(newTree(t), x("/a")))
			return err
		}(),
	} {
		if !errors.Is(err, pathlock.ErrUnavailable) || !strings.Contains(err.Error(), "SELECT, INSERT, UPDATE and DELETE") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The row of a tree goes when the tree has been empty for a while. Fences grow all the same.
func TestSweep(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		s := d.store(t, sqlstore.WithKeep(0))
		db := d.pool(t)
		rows := func() (n int) {
			t.Helper()
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pathlock_trees").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		tree, busy := newTree(t), newTree(t)
		var last uint64
		take(t, s, ask(busy, x("/a")))
		for range 3 {
			req := ask(tree, x("/a"))
			fence := take(t, s, req).Fence
			if fence <= last {
				t.Errorf("fence %d after %d", fence, last)
			}
			last = fence
			release(t, s, req)
			if n := rows(); n != 2 {
				t.Errorf("%d rows of trees, want 2", n)
			}
			if err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := rows(); n != 1 {
				t.Errorf("%d rows of trees after a sweep, want that of the tree in use", n)
			}
		}
		crashed := ask(tree, x("/a"))
		crashed.Lease = time.Millisecond
		take(t, s, crashed)
		eventually(t, "the ticket of a crashed process is gone", func() bool {
			if err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			return rows() == 1
		})
	})
}
