package schema_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/schema"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Several instances start at once on an empty database. All of them start, and each migration runs
// once.
func TestMigrateAtOnce(t *testing.T) {
	for _, kind := range testdb.All(t) {
		url := kind.URL
		t.Run(kind.Name, func(t *testing.T) {
			var group errgroup.Group
			for range 6 {
				group.Go(func() error {
					db, err := database.Open(url, database.Options{})
					if err != nil {
						return err
					}
					return errors.Join(schema.Migrate(t.Context(), db), db.Close())
				})
			}
			if err := group.Wait(); err != nil {
				t.Fatal(err)
			}
			db := testdb.Open(t, url)
			var applied int
			if err := db.Pool().QueryRow(`SELECT COUNT(*) FROM schema_migrations`).Scan(&applied); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(string(db.Dialect), "*.sql"))
			if err != nil || applied != len(files) || applied < 5 {
				t.Errorf("%d migrations on record, of %d files (%v)", applied, len(files), err)
			}
		})
	}
}

// A migration that failed leaves SQLite as it was, and the write lock free.
func TestMigrateFailure(t *testing.T) {
	db := testdb.Open(t, "sqlite://"+filepath.Join(t.TempDir(), "test.db"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := schema.Migrate(ctx, db); err == nil {
		t.Fatal("migrated under a cancelled context")
	}
	if err := schema.Migrate(t.Context(), db); err != nil {
		t.Fatalf("after a failure: %v", err)
	}
}

// Names that a collation might treat as equal can be siblings, and equal names cannot. A row in the
// recycle bin blocks no name.
func TestSiblings(t *testing.T) {
	for _, kind := range testdb.All(t) {
		url := kind.URL
		t.Run(kind.Name, func(t *testing.T) {
			db := testdb.Open(t, url)
			if err := schema.Migrate(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			insert := func(name string) error {
				_, err := db.Pool().Exec(db.Bind(`INSERT INTO suites (plan_id, parent_id, name, path) VALUES (1, 1, ?, ?)`), name, "/"+name)
				return err
			}
			for _, name := range []string{"a", "A", "a ", "á", "a\u0301", "%", "_", "ａ"} {
				if err := insert(name); err != nil {
					t.Errorf("%q beside its look-alikes: %v", name, err)
				}
			}
			if insert("a") == nil {
				t.Error("a second living sibling of the same name")
			}
			for range 2 {
				if _, err := db.Pool().Exec(db.Bind(`UPDATE suites SET deleted_at = '2026-01-01 00:00:00' WHERE name = ?`), "a"); err != nil {
					t.Fatal(err)
				}
				if err := insert("a"); err != nil {
					t.Errorf("beside a namesake in the recycle bin: %v", err)
				}
			}
		})
	}
}
