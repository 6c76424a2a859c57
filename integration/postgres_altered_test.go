package integration

import (
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// pgx prepares each statement once for a connection, and PostgreSQL refuses one whose columns have
// got another type since: "cached plan must not change result type".

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
			d := databases.Postgres(t, databases.WordOrder, nil)
			db := openMigrated(t, d, gormplugin.MaxTries(c.tries))
			pool, err := db.DB()
			testerr.Must(t, err)
			pool.SetMaxOpenConns(1)
			root := branch(t, db, nil, "")
			a := branch(t, db, root, "a")
			rename := func(name string) error { return db.Model(a).Update("name", name).Error }
			testerr.Must(t, rename("b"))
			other := databases.Pool(t, d.Connector) // which is another program
			for _, statement := range []string{"ALTER TABLE branches ALTER COLUMN path TYPE varchar(600)", "ALTER TABLE branches ALTER COLUMN name TYPE varchar(101)"} {
				_, err := other.ExecContext(t.Context(), statement)
				testerr.Must(t, err)
			}
			if err := rename("c"); !errors.Is(err, c.want) {
				t.Errorf("got the error %v, want %v", err, c.want)
			}
		})
	}
}
