package anystore_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/pathlock-go/pathlock"
)

// The transaction that needs a lock may be in the file that the locks' URL names.
func TestLocksAreTakenInATransactionOnTheSameSQLiteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.db")
	data, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(path)+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = data.Close() })
	tx, err := data.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "CREATE TABLE suites (id INTEGER)"); err != nil {
		t.Fatal(err)
	}
	tree, err := pathlock.NewTree("anystore", "1")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := pathlock.New(open(t, "sqlite://"+path)).Acquire(t.Context(), pathlock.Request{Tree: tree, Gate: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Error(err)
	}
}
