package gormplugintest

import (
	"testing"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm"
)

// checkReadOnly has the only session of a pool become read-only, as after a failover: the write
// that notices it is refused, and the next one has another session.
func checkReadOnly(t *testing.T, d Database) {
	become := map[string]string{
		"mysql": "SET SESSION TRANSACTION READ ONLY", "postgres": "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
	}
	for _, prepared := range []bool{false, true} {
		w := newWorld(t, d, settings{connections: 1, config: gorm.Config{PrepareStmt: prepared}})
		a := w.build("/a")
		pool, err := w.db.DB()
		w.must(err)
		rename := func(tx *gorm.DB) error { return tx.Model(&Suite{ID: a.ID}).Update("name", "b").Error }
		for name, write := range map[string]func() error{
			"a statement":   func() error { return rename(w.db) },
			"a transaction": func() error { return w.db.Transaction(rename) },
			"another table": func() error { return w.db.Create(new(Other)).Error },
			"raw SQL in a transaction": func() error {
				return w.db.Transaction(func(tx *gorm.DB) error { return tx.Exec("DELETE FROM others WHERE id = 0").Error })
			},
		} {
			_, err := pool.ExecContext(t.Context(), become[w.db.Name()])
			w.must(err)
			if err := write(); w.plugin.FailureOf(err) != pathlock.FailureDatabase {
				t.Errorf("%s in a session that only reads, prepared=%v: %v, want it to be the database's failure", name, prepared, err)
			}
			if err := write(); err != nil {
				t.Errorf("%s after that, prepared=%v: %v", name, prepared, err)
			}
		}
	}
}
