package integration

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// errand is a plan on PostgreSQL with a root row, in which transactions fail.
type errand struct {
	t    *testing.T
	db   *gorm.DB
	root *gormplugintest.Suite
}

func newErrand(t *testing.T) errand {
	t.Parallel()
	e := errand{t, guarded(t, databases.Postgres(t, databases.ByteOrder, nil)), &gormplugintest.Suite{PlanID: 1}}
	testerr.Must(t, errors.Join(gormplugin.AutoMigrate(e.db), e.db.Create(e.root).Error))
	return e
}

// create makes a row below the root row.
func (e errand) create(tx *gorm.DB, name string) error {
	return tx.Create(&gormplugintest.Suite{ParentID: &e.root.ID, Name: name}).Error
}

// has checks how many rows there are.
func (e errand) has(want int64) {
	e.t.Helper()
	var rows int64
	if err := e.db.Model(&gormplugintest.Suite{}).Count(&rows).Error; err != nil || rows != want {
		e.t.Errorf("%d rows (%v), want %d", rows, err, want)
	}
}

// After a failed statement PostgreSQL runs nothing until the transaction is rolled back: the
// refusal says which statement failed, and a caller that goes on and commits has written nothing.
func TestTransaction_abortedOnPostgres(t *testing.T) {
	e := newErrand(t)
	testerr.Must(t, e.create(e.db, "a"))
	testerr.Is(t, "the commit", e.db.Transaction(func(tx *gorm.DB) error {
		testerr.Is(t, "the name of another row", e.create(tx, "a"), gormplugin.ErrNameTaken)
		testerr.Is(t, "a further row", e.create(tx, "c"), gormplugin.ErrNameTaken)
		testerr.Is(t, "a query", tx.First(&gormplugintest.Suite{}).Error, gormplugin.ErrNameTaken)
		return nil
	}), gormplugin.ErrNameTaken)
	e.has(2)
}

// A deadlock undoes no more than what came after the last savepoint. Without one, the COMMIT says
// that the transaction is to be run again.
func TestTransaction_deadlockOnPostgres(t *testing.T) {
	e := newErrand(t)
	deadlock := func(tx *gorm.DB) error {
		return tx.Exec("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$").Error
	}
	testerr.Must(t, e.db.Transaction(func(tx *gorm.DB) error {
		testerr.Must(t, e.create(tx, "a"))
		if state := dialect.SQLState(tx.Transaction(deadlock)); state != "40P01" {
			t.Errorf("the nested transaction failed by %q", state)
		}
		return e.create(tx, "b")
	}))
	testerr.Is(t, "the commit", e.db.Transaction(func(tx *gorm.DB) error {
		testerr.Must(t, e.create(tx, "c"))
		_ = deadlock(tx)
		return nil
	}), gormplugin.ErrRetry)
	e.has(3)
}

// Where only the caller sees the error of a statement, as where the rows of a query are read, and
// commits nevertheless, it is known that nothing was written, and what is run before the COMMIT is
// told why.
func TestTransaction_errorsThatOnlyTheCallerSees(t *testing.T) {
	e := newErrand(t)
	const query = "SELECT 1 / (3 - n) FROM generate_series(1, 4) AS n"
	for name, read := range map[string]func(tx *gorm.DB) error{
		"a row": func(tx *gorm.DB) error { return tx.Raw(query).Row().Scan(new(int)) },
		"a loss": func(tx *gorm.DB) error {
			return tx.Raw("SELECT pg_terminate_backend(pg_backend_pid())").Row().Scan(new(bool))
		},
		"rows": func(tx *gorm.DB) error {
			rows, err := tx.Raw(query).Rows()
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				continue
			}
			return rows.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var outcomes []gormplugin.Outcome
			err := e.db.Transaction(func(tx *gorm.DB) error {
				testerr.Must(t, gormplugin.AfterEnd(tx, func(_ context.Context, o gormplugin.Outcome) { outcomes = append(outcomes, o) }))
				testerr.Must(t, e.create(tx, "a"))
				if err := read(tx); err == nil {
					t.Error("nothing failed")
				}
				return nil
			})
			if err == nil || errors.Is(err, gormplugin.ErrOutcomeUnknown) || !slices.Equal(outcomes, []gormplugin.Outcome{gormplugin.RolledBack}) {
				t.Errorf("the commit: %v, told %v", err, outcomes)
			}
			if divided := dialect.SQLState(err) == "22012"; divided != (name == "rows") {
				t.Errorf("the commit does not say what has failed: %v", err)
			}
		})
	}
}
