package plans_test

import (
	"path/filepath"
	"testing"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// A limit holds for connections to servers. A file keeps its one writer.
func TestOpenDB_LimitsConnectionsToServers(t *testing.T) {
	for url, want := range map[string]int{
		"mysql://user@tcp(db.example:3306)/x": 3, "postgres://user@db.example/x": 3, "sqlite://" + filepath.Join(t.TempDir(), "test.db"): 1,
	} {
		db, err := plans.OpenDB(url, 3)
		testerr.Must(t, err)
		if got := db.Pool().Stats().MaxOpenConnections; got != want {
			t.Errorf("%s: at most %d connections, want %d", url, got, want)
		}
		testerr.None(t, db.Close())
	}
}

// Reads work while a transaction writes, and the reading connections cannot write.
func TestSQLiteReadsBesideWriter(t *testing.T) {
	db, err := plans.OpenDB("sqlite://"+filepath.Join(t.TempDir(), "test.db"), 0)
	testerr.Must(t, err)
	defer func() { _ = db.Close() }()
	testerr.Must(t, db.Write.Exec(`CREATE TABLE t (id INTEGER)`).Error)
	tx := db.Write.Begin()
	defer tx.Rollback()
	testerr.Must(t, tx.Exec(`INSERT INTO t VALUES (1)`).Error)
	var n int64
	if err := db.Read.Table("t").Count(&n).Error; err != nil || n != 0 {
		t.Errorf("a reader beside the writer sees %d rows and %v, want none and no error", n, err)
	}
	if err := db.Read.Exec(`INSERT INTO t VALUES (2)`).Error; err == nil {
		t.Error("the pool that reads has written")
	}
}

// A transaction on MySQL sees what others have committed since it began.
func TestOpenDB_MySQLReadsWhatIsCommitted(t *testing.T) {
	for _, server := range testserver.MySQLServers(t) {
		t.Run(server.Product, func(t *testing.T) {
			db := testdb.Open(t, testdb.MySQL(t, server))
			testerr.Must(t, db.Write.Exec(`CREATE TABLE t (id INTEGER)`).Error)
			tx := db.Write.Begin()
			defer tx.Rollback()
			var before, after int64
			testerr.Must(t, tx.Table("t").Count(&before).Error)
			testerr.Must(t, db.Write.Exec(`INSERT INTO t VALUES (1)`).Error)
			if testerr.Must(t, tx.Table("t").Count(&after).Error); before != 0 || after != 1 {
				t.Errorf("%d rows and then %d, want 0 and 1", before, after)
			}
		})
	}
}
