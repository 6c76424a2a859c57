package gormplugintest

import (
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// killing is how one session of a server ends another, by the dialect's name: what a connection is
// called, by itself, how it is ended (MySQL takes no parameters there), and how many of that name
// there are.
var killing = map[string]struct{ self, kill, count string }{
	"mysql":    {"SELECT CONNECTION_ID()", "KILL CONNECTION %d", "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ?"},
	"postgres": {"SELECT pg_backend_pid()", "SELECT pg_terminate_backend(%d)", "SELECT COUNT(*) FROM pg_stat_activity WHERE pid = $1"},
}

// checkKilled has another session of the server end the connection of a write, while a statement of
// it or its COMMIT is about to be sent. It is what [checkLosses] only plays, with the errors that
// the driver really gives.
func checkKilled(t *testing.T, d Database) {
	if d.SoleWriter {
		t.Skip("a database in the process has no connection to lose")
	}
	for _, way := range ways()[:2] {
		for _, kind := range []string{"exec", "commit"} {
			t.Run(way.name+" at the "+kind, func(t *testing.T) {
				w := newWorld(t, d, settings{connections: 1})
				session := killing[w.db.Name()]
				killer := sql.OpenDB(d.Connector)
				defer func() { w.must(killer.Close()) }()
				a := w.build("/a")
				w.build("/a/b")
				statement := rename("/a", "x")(w)
				var id int64
				w.must(w.db.Raw(session.self).Scan(&id).Error)
				w.trace.reset()
				w.trace.intercept(func(c call) error {
					if c.kind != kind || c.after {
						return nil
					}
					w.trace.intercept(nil)
					if _, err := killer.ExecContext(t.Context(), fmt.Sprintf(session.kill, id)); err != nil {
						return err
					}
					for n := 1; n > 0; {
						if err := killer.QueryRowContext(t.Context(), session.count, id).Scan(&n); err != nil {
							return err
						}
					}
					if got := w.held(); got != "X /a, X /x" {
						t.Errorf("while it is not known to have ended, it holds %s", got)
					}
					return nil
				})
				n := new(notes)
				err := way.run(w.db, func(db *gorm.DB) error {
					if way.name != "alone" {
						w.register(db, n, "a")
					}
					return statement(db)
				})
				w.trace.intercept(nil)
				if way.name != "alone" {
					w.told(n, map[string]string{"exec": "a rolled back", "commit": "a unknown"}[kind])
				}
				if err == nil || errors.Is(err, gormplugin.ErrRetry) || errors.Is(err, gormplugin.ErrOutcomeUnknown) != (kind == "commit") {
					t.Errorf("got the error %v", err)
				}
				w.settled(err)
				w.has("/a", "/a/b")
				w.must(w.db.Model(a).Update("name", "y").Error)
				w.has("/y", "/y/b")
			})
		}
	}
}
