package gormplugintest

import (
	"context"
	"fmt"
	"math/rand/v2"

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
	return append(checks, check{"savepoints: in other forms", (*world).savepointForms},
		check{"savepoints: whatever is done with them", (*world).savepointStorm})
}

// foreignSavepoints are statements about savepoints that GORM would not write.
func (w *world) foreignSavepoints() []string {
	forms := []string{
		"ROLLBACK TO s", "/* why */ ROLLBACK TO SAVEPOINT s", "ROLLBACK TO SAVEPOINT s;", "ROLLBACK WORK TO s", "rollback to savepoint s",
		`SAVEPOINT "s"`, "SAVEPOINT \u00e9", "SAVEPOINT s; SAVEPOINT t", "SELECT 1; RELEASE SAVEPOINT s",
	}
	if w.db.Name() == "mysql" {
		forms = append(forms, "/*! ROLLBACK TO SAVEPOINT s */", "ROLLBACK /*!50000 TO */ s",
			"BEGIN NOT ATOMIC ROLLBACK TO s; END", "SET STATEMENT max_statement_time = 1 FOR ROLLBACK TO s")
	}
	return forms
}

// savepointForms runs statements about savepoints in forms that nobody has to read: they are
// refused in a transaction on which the plugin relies, and run in any other one.
func (w *world) savepointForms() {
	ways := map[string]func(tx *gorm.DB, sql string) error{
		"Exec": func(tx *gorm.DB, sql string) error { return tx.Exec(sql).Error },
		"Scan": func(tx *gorm.DB, sql string) error { return tx.Raw(sql).Scan(new([]int)).Error },
		"Row":  func(tx *gorm.DB, sql string) error { return tx.Raw(sql).Row().Scan(new(int)) },
	}
	for _, prepare := range []bool{false, true} {
		for way, run := range ways {
			forms := w.foreignSavepoints()
			if way != "Exec" {
				forms = append(forms, "ROLLBACK TO SAVEPOINT s")
			}
			for _, sql := range forms {
				n := new(notes)
				w.must(w.db.Session(&gorm.Session{PrepareStmt: prepare}).Transaction(func(tx *gorm.DB) error {
					w.must(tx.SavePoint("s").Error)
					w.must(tx.Create(&Other{}).Error)
					w.register(tx, n, "a")
					if err := run(tx, sql); !isEnd(err) {
						w.Errorf("%s of %q, prepared %v: got %v", way, sql, prepare, err)
					}
					return nil
				}))
				w.told(n, "a, a committed")
			}
			w.inTransaction(func(tx *gorm.DB) {
				w.must(tx.SavePoint("s").Error)
				w.must(tx.Exec("ROLLBACK TO s").Error)
				if err := gormplugin.AfterCommit(tx, func(context.Context) {}); !isEnd(err) {
					w.Errorf("got %v", err)
				}
			})
		}
	}
}

// savepointStorms is how many transactions play with savepoints, and savepointSteps how many steps
// each takes.
const (
	savepointStorms = 100
	savepointSteps  = 14
)

// savepointStorm does anything with savepoints. A function is told whether its row is there.
func (w *world) savepointStorm() {
	verbs := []string{"SAVEPOINT ", "SAVEPOINT ", "ROLLBACK TO SAVEPOINT ", "ROLLBACK TO SAVEPOINT ", "RELEASE SAVEPOINT "}
	names := []string{"s", "S", "t", "u_1", "sp12345678901234567890"}
	told := make(map[gormplugin.Outcome]int)
	for seed := range savepointStorms {
		random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // It has to be the same each time.
		var script []string
		outcomes := make(map[int64]gormplugin.Outcome)
		tx := w.db.Begin()
		w.must(tx.Error)
		for range savepointSteps {
			if random.IntN(3) == 0 {
				row := new(Other)
				if tx.Create(row).Error != nil {
					continue // PostgreSQL, after an error
				}
				script = append(script, fmt.Sprintf("row %d", row.ID))
				w.must(gormplugin.AfterEnd(tx, func(_ context.Context, outcome gormplugin.Outcome) { outcomes[row.ID] = outcome }))
				continue
			}
			sql := verbs[random.IntN(len(verbs))] + names[random.IntN(len(names))]
			script = append(script, fmt.Sprintf("%s: %v", sql, tx.Session(&gorm.Session{PrepareStmt: random.IntN(2) == 0}).Exec(sql).Error))
		}
		script = append(script, fmt.Sprintf("commit: %v", tx.Commit().Error))
		for id, outcome := range outcomes {
			told[outcome]++
			want := gormplugin.RolledBack
			if w.db.Limit(1).Find(new(Other), id).RowsAffected == 1 {
				want = gormplugin.Committed
			}
			if outcome != want {
				w.Errorf("seed %d: row %d: told %s, want %s; %q", seed, id, outcomeNames[outcome], outcomeNames[want], script)
			}
		}
	}
	if told[gormplugin.Committed] == 0 || told[gormplugin.RolledBack] == 0 {
		w.Errorf("too little happens: %v", told)
	}
}
