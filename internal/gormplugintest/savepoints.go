package gormplugintest

import (
	"errors"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// afterwardsSavepoints are transactions that go back to savepoints.
func afterwardsSavepoints() []check {
	nested := func(w *world, tx *gorm.DB, n *notes, name string, fail error, more func(tx *gorm.DB)) {
		w.Helper()
		w.fails(tx.Transaction(func(inner *gorm.DB) error {
			w.register(inner, n, name)
			if more != nil {
				more(inner)
			}
			return fail
		}), fail)
	}
	checks := []check{{"nested transactions", func(w *world) {
		for _, config := range []gorm.Session{{}, {PrepareStmt: true}} {
			n := new(notes)
			w.must(w.db.Session(&config).Transaction(func(tx *gorm.DB) error {
				w.register(tx, n, "a")
				nested(w, tx, n, "b", errStop, nil)
				nested(w, tx, n, "c", nil, func(tx *gorm.DB) {
					nested(w, tx, n, "d", errStop, nil)
					nested(w, tx, n, "e", nil, nil)
				})
				nested(w, tx, n, "f", errStop, func(tx *gorm.DB) { nested(w, tx, n, "g", nil, nil) })
				return nil
			}))
			w.told(n, "a, a committed, b rolled back, c, c committed, d rolled back, e, e committed, f rolled back, g rolled back")
		}
	}}, {"a nested transaction before all others", func(w *world) {
		n := new(notes)
		w.must(w.db.Transaction(func(tx *gorm.DB) error {
			nested(w, tx, n, "a", errStop, nil)
			w.register(tx, n, "b")
			return nil
		}))
		w.told(n, "a rolled back, b, b committed")
	}}}
	for name, c := range map[string]struct{ steps, want string }{
		"back twice":          {"SAVEPOINT s; a; ROLLBACK TO s; b; ROLLBACK TO SAVEPOINT s; c", "c"},
		"released":            {"a; SAVEPOINT s; b; RELEASE SAVEPOINT s; c", "a b c"},
		"an outer one":        {"a; SAVEPOINT s; b; SAVEPOINT t; c; ROLLBACK TO s; d", "a d"},
		"the newest counts":   {"a; SAVEPOINT s; b; SAVEPOINT s; c; ROLLBACK TO s; d", "a b d"},
		"names in any case":   {"a; SAVEPOINT s; b; rollback to S; c", "a c"},
		"comments":            {"a; /* one */ SAVEPOINT s; b; -- back\n ROLLBACK TO s; c", "a c"},
		"one of two is left":  {"a; SAVEPOINT s; b; SAVEPOINT t; c; RELEASE SAVEPOINT t; d; ROLLBACK TO s; e", "a e"},
		"set before anything": {"SAVEPOINT s; a; SAVEPOINT t; b; ROLLBACK TO t; c; ROLLBACK TO s; d", "d"},
	} {
		checks = append(checks, check{"savepoints: " + name, func(w *world) {
			n := new(notes)
			w.must(w.db.Transaction(func(tx *gorm.DB) error {
				for step := range strings.SplitSeq(c.steps, "; ") {
					if len(step) == 1 {
						w.must(gormplugin.AfterCommit(tx, n.commit(step)))
					} else {
						w.must(tx.Exec(step).Error)
					}
				}
				return nil
			}))
			w.told(n, strings.ReplaceAll(c.want, " ", ", "))
		}})
	}
	checks = append(checks, check{"savepoints: in any form, prepared or not", (*world).savepointForms},
		check{"savepoints: a statement that failed", (*world).savepointFailures},
		check{"savepoints: names that may be one", (*world).savepointNames},
		check{"savepoints: whatever is done with them", (*world).savepointStorm})
	return append(checks, check{"savepoints: the newest of a name is released", func(w *world) {
		if w.db.Name() == "mysql" {
			w.Skip("it replaces a savepoint by one of its name")
		}
		n := new(notes)
		w.must(w.db.Transaction(func(tx *gorm.DB) error {
			w.must(gormplugin.AfterCommit(tx, n.commit("a")))
			w.must(tx.Exec("SAVEPOINT s").Error)
			w.must(gormplugin.AfterCommit(tx, n.commit("b")))
			w.must(tx.Exec("SAVEPOINT s").Error)
			w.must(tx.Exec("RELEASE SAVEPOINT s").Error)
			return tx.Exec("ROLLBACK TO s").Error
		}))
		w.told(n, "a")
	}})
}

// savepointForms goes back to a savepoint in all forms that the database has, and looks whether a
// function is told what has become of its row.
func (w *world) savepointForms() {
	mysql := w.db.Name() == "mysql"
	if mysql {
		w.must(w.db.Exec("DROP PROCEDURE IF EXISTS go_back").Error)
		w.must(w.db.Exec("CREATE PROCEDURE go_back() ROLLBACK TO s").Error)
		defer func() { w.must(w.db.Exec("DROP PROCEDURE go_back").Error) }()
	}
	forms := []string{
		"ROLLBACK TO s", "/* why */ ROLLBACK TO s", "-- why\nROLLBACK TO s", "ROLLBACK TO SAVEPOINT S", "ROLLBACK TO s;", "ROLLBACK TRANSACTION TO s",
		"ROLLBACK WORK TO s",
	}
	if mysql {
		forms = append(forms, "/*! ROLLBACK TO s */", "ROLLBACK /*!50000 TO */ s", "EXECUTE IMMEDIATE 'ROLLBACK TO s'", "EXECUTE IMMEDIATE CONCAT('ROLLBACK', ' TO s')",
			"BEGIN NOT ATOMIC ROLLBACK TO s; END", "SET STATEMENT max_statement_time = 1 FOR ROLLBACK TO s", "CALL go_back()")
	}
	runs := map[string]func(tx *gorm.DB, sql string) error{
		"Exec": func(tx *gorm.DB, sql string) error { return tx.Exec(sql).Error },
		"Scan": func(tx *gorm.DB, sql string) error { return tx.Raw(sql).Scan(new([]int)).Error },
		"Rows": func(tx *gorm.DB, sql string) error {
			rows, err := tx.Raw(sql).Rows()
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				return errStop
			}
			return rows.Err()
		},
	}
	back := make(map[string]int)
	for _, prepare := range []bool{false, true} {
		for run, do := range runs {
			for _, sql := range forms {
				row, n := new(Other), new(notes)
				tx := w.db.Session(&gorm.Session{PrepareStmt: prepare}).Begin()
				err := errors.Join(tx.Exec("SAVEPOINT s").Error, tx.Create(row).Error, gormplugin.AfterEnd(tx, n.end("row")))
				if err != nil {
					tx.Rollback() // or nobody could drop the procedure
					w.Fatal(err)
				}
				err = do(tx, sql)
				if tx.Commit().Error != nil {
					continue // PostgreSQL commits nothing after an error
				}
				var rows int64
				w.must(w.db.Model(row).Where("id = ?", row.ID).Count(&rows).Error)
				want := "row rolled back"
				if rows > 0 {
					want = "row committed"
				} else {
					back[run]++
				}
				if got := n.String(); got != want {
					w.Errorf("%s of %q, prepared %v, error %v: told %q, want %q", run, sql, prepare, err, got, want)
				}
			}
		}
	}
	for run := range runs {
		if back[run] < 10 {
			w.Errorf("%s has gone back in %d ways only", run, back[run])
		}
	}
}

// savepointFailures runs statements that fail before they go back.
func (w *world) savepointFailures() {
	for _, sql := range []string{"ROLLBACK TO missing", "ROLLBACK TO missing; ROLLBACK TO s", "SELECT nothing FROM missing; ROLLBACK TO s", "CALL missing()"} {
		n := new(notes)
		tx := w.db.Begin()
		w.must(tx.Exec("SAVEPOINT s").Error)
		w.must(tx.Create(&Other{}).Error)
		w.register(tx, n, "a")
		if tx.Exec(sql).Error == nil {
			w.Errorf("%q has succeeded", sql)
		}
		want := "a, a committed"
		if tx.Commit().Error != nil {
			want = "a rolled back"
		}
		w.told(n, want)
	}
}
