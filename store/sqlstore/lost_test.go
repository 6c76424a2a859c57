package sqlstore_test

import (
	"os"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// loses requires that a store which holds /a goes on after all locks were removed: the lock is
// lost, and a second store and the first one exclude each other.
func loses(t *testing.T, d database, remove func()) {
	t.Helper()
	s := d.store(t)
	tree := newTree(t)
	before := grantOf(t, s, tree, "before")
	remove()
	lost, err := s.Renew(t.Context(), tree, []pathlock.Lease{{Owner: "before", For: long}})
	if err != nil || len(lost) != 1 {
		t.Fatalf("the renewal says that %v is lost, error %v", lost, err)
	}
	other := d.store(t)
	after := grantOf(t, other, tree, "after")
	if after <= before {
		t.Errorf("the fence %d comes after %d", after, before)
	}
	if _, err := s.Acquire(t.Context(), requestOf(tree, "third")); err == nil || !strings.Contains(err.Error(), "after") {
		t.Errorf("while another process holds it: %v", err)
	}
	if err := other.Release(t.Context(), tree, "after", "after"); err != nil {
		t.Fatal(err)
	}
	grantOf(t, s, tree, "fourth")
	if trees, err := other.Trees(t.Context()); err != nil || len(trees) != 1 {
		t.Errorf("trees %v, error %v", trees, err)
	}
}

// A failover to an empty server, or an operator who empties the lock store, takes the tables away.
func TestTablesThatGoAway(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		loses(t, d, func() { run(t, d.pool(t), "DROP TABLE pathlock_trees") })
	})
}

// A store that has never seen its tables does not make them: it may look into a wrong database.
func TestTablesThatWereNeverThere(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		s, err := sqlopen.Open(d.url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		if _, err := s.Snapshot(t.Context(), newTree(t)); err == nil || !strings.Contains(err.Error(), "Store.Create") {
			t.Errorf("without tables: %v", err)
		}
	})
}

func TestSQLiteFileIsRemoved(t *testing.T) {
	for name, suffixes := range map[string][]string{"alone": {""}, "with its log": {"", "-wal", "-shm"}} {
		t.Run(name, func(t *testing.T) {
			d := sqliteFile(t)
			loses(t, d, func() {
				for _, suffix := range suffixes {
					if err := os.Remove(strings.TrimPrefix(d.url, "sqlite://") + suffix); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

func TestSQLiteFileIsReplaced(t *testing.T) {
	d, other := sqliteFile(t), sqliteFile(t)
	s := other.store(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	loses(t, d, func() {
		// A log that stays behind would be read into the new file.
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.Remove(strings.TrimPrefix(d.url, "sqlite://") + suffix); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Rename(strings.TrimPrefix(other.url, "sqlite://"), strings.TrimPrefix(d.url, "sqlite://")); err != nil {
			t.Fatal(err)
		}
	})
}

func requestOf(tree pathlock.Tree, owner pathlock.Owner) pathlock.Acquisition {
	return pathlock.Acquisition{
		Tree: tree, Owner: owner, Grant: pathlock.GrantID(owner), Note: string(owner), Lease: long,
		Claims: pathlock.Normalize(pathlock.X(pathlock.MustParsePath("/a"))),
	}
}

func grantOf(t *testing.T, s *sqlstore.Store, tree pathlock.Tree, owner pathlock.Owner) uint64 {
	t.Helper()
	g, err := s.Acquire(t.Context(), requestOf(tree, owner))
	if err != nil {
		t.Fatalf("%s: %v", owner, err)
	}
	return g.Fence
}
