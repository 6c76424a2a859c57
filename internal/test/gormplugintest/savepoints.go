package gormplugintest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/pathlock-go/pathlock/gormplugin"
	"gorm.io/gorm"
)

// savepointStorms is how many transactions play with savepoints, and savepointSteps how many steps
// each takes.
const (
	savepointStorms = 60
	savepointSteps  = 14
)

// checkSavepoints does anything with savepoints in SQL. A function is told whether its row is
// there.
func checkSavepoints(t *testing.T, d Database) {
	w := newWorld(t, d, settings{})
	verbs := []string{"SAVEPOINT ", "SAVEPOINT ", "ROLLBACK TO SAVEPOINT ", "ROLLBACK TO SAVEPOINT ", "RELEASE SAVEPOINT "}
	names := []string{"s", "S", "t", "u_1", "sp12345678901234567890"}
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
			want := gormplugin.RolledBack
			if w.db.Limit(1).Find(new(Other), id).RowsAffected == 1 {
				want = gormplugin.Committed
			}
			if outcome != want {
				t.Errorf("seed %d: row %d: told %s, want %s; %q", seed, id, outcomeNames[outcome], outcomeNames[want], script)
			}
		}
	}
}
