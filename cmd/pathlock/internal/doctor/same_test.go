package doctor_test

import (
	"path/filepath"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/doctor"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// A lock store that is not the one of the programs on the database is a problem, on each database.
func TestSame_FindsAnotherStore(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string, dialect fsck.Dialect) {
		locks := "sqlite://" + filepath.Join(t.TempDir(), "locks.db")
		used(t, locks)
		if dialect == fsck.SQLite {
			used(t, url) // makes the file of the locks
			url += "-locks"
		}
		db := open(t, url)
		same := func() doctor.Report {
			return examine(t, doctor.Subject{Locks: locks, DB: db, Dialect: dialect})
		}
		want(t, same(), doctor.Advice, "same store", "have not recorded")
		do(t, db, "CREATE TABLE pathlock_stores (guarded VARCHAR(191) PRIMARY KEY, namespace VARCHAR(255) NOT NULL, store VARCHAR(64) NOT NULL)",
			"INSERT INTO pathlock_stores VALUES ('suites', 'testplan', 'ABCDEFGH of 2026-01-01')")
		want(t, same(), doctor.Problem, "same store", "take the locks of suites in ABCDEFGH of 2026-01-01")
		store, err := anystore.Open(t.Context(), locks, doctor.Stores...)
		testerr.Must(t, err)
		id, err := pathlock.New(store).StoreID(t.Context())
		testerr.Must(t, err)
		testerr.Must(t, store.Close(t.Context()))
		do(t, db, "UPDATE pathlock_stores SET store = '"+id+"'")
		want(t, same(), doctor.Fine, "same store", "take the locks of suites here, in the namespace testplan")
	})
}
