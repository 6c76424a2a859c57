package integration

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// pgx prepares each statement once for a connection, and PostgreSQL refuses one whose columns have
// got another type since: "cached plan must not change result type".

// openOnOne returns a DB with the plugin that has one connection, and another pool to the same
// database, which is another program.
func openOnOne(t *testing.T, options ...gormplugin.Option) (db *gorm.DB, other *sql.DB) {
	t.Helper()
	d := postgresDatabase(t, wordOrder, nil)
	pool, other := sql.OpenDB(d.Connector), sql.OpenDB(d.Connector)
	t.Cleanup(func() { _, _ = pool.Close(), other.Close() })
	pool.SetMaxOpenConns(1)
	db, err := gorm.Open(d.Dialector(pool), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	options = append(options, gormplugin.Model(&gormplugintest.Branch{}), gormplugin.Leaf(&gormplugintest.Fruit{}, &gormplugintest.Branch{}))
	if err := db.Use(gormplugin.New(pathlock.New(memstore.New()), options...)); err != nil {
		t.Fatal(err)
	}
	return db, other
}

// alter runs statements of another program.
func alter(t *testing.T, other *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := other.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// A statement on a guarded table is run again after another program has changed the table, and the
// caller of one that is not run again learns that it may be.
func TestPostgresWritesAfterColumnsChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		tries int
		want  error
	}{
		{"tried again", gormplugin.DefaultMaxTries, nil},
		{"tried once", 1, gormplugin.ErrRetry},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, other := openOnOne(t, gormplugin.MaxTries(c.tries))
			if err := gormplugin.AutoMigrate(db); err != nil {
				t.Fatal(err)
			}
			root := branch(t, db, nil, "")
			a := branch(t, db, root, "a")
			rename := func(name string) error { return db.Model(a).Update("name", name).Error }
			if err := rename("b"); err != nil {
				t.Fatal(err)
			}
			alter(t, other, "ALTER TABLE branches ALTER COLUMN path TYPE varchar(600)", "ALTER TABLE branches ALTER COLUMN name TYPE varchar(101)")
			if err := rename("c"); !errors.Is(err, c.want) {
				t.Errorf("got the error %v, want %v", err, c.want)
			}
		})
	}
}
