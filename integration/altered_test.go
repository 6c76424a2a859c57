package integration

import (
	"errors"
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
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

// A transaction that has begun to read before another program changes a guarded table is run again
// from its beginning.
func TestMySQLWritesAfterTableChanged(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		t.Parallel()
		d := gormplugintest.OnMySQL(t, server, nil)
		db := openMigrated(t, d)
		a := branch(t, db, branch(t, db, nil, ""), "a")
		other, tries := databases.Pool(t, d.Connector), 0
		change := func(statement string) error { return testerr.Of(other.ExecContext(t.Context(), statement)) }
		testerr.Must(t, change("CREATE TABLE notes (id INT PRIMARY KEY)"))
		err := gormplugin.Transaction(t.Context(), db, func(tx *gorm.DB) error {
			if err := tx.Table("notes").Count(new(int64)).Error; err != nil {
				return err
			}
			if tries++; tries == 1 {
				testerr.Must(t, change("ALTER TABLE branches ADD COLUMN remark INT, ALGORITHM = COPY"))
			}
			return tx.Model(a).Update("name", "b").Error
		})
		if err != nil || tries != 2 {
			t.Errorf("after %d tries: %v", tries, err)
		}
	})
}
