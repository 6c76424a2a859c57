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

// After a failed statement PostgreSQL runs nothing until the transaction is rolled back: the
// refusal says which statement failed, and a caller that goes on and commits has written nothing.
func TestTransaction_abortedOnPostgres(t *testing.T) {
	t.Parallel()
	db := guarded(t, databases.Postgres(t, databases.ByteOrder, nil))
	root := &gormplugintest.Suite{PlanID: 1}
	testerr.Must(t, errors.Join(gormplugin.AutoMigrate(db), db.Create(root).Error))
	create := func(tx *gorm.DB, name string) error {
		return tx.Create(&gormplugintest.Suite{ParentID: &root.ID, Name: name}).Error
	}
	testerr.Must(t, create(db, "a"))
	testerr.Is(t, "the commit", db.Transaction(func(tx *gorm.DB) error {
		testerr.Is(t, "the name of another row", create(tx, "a"), gormplugin.ErrNameTaken)
		testerr.Is(t, "a further row", create(tx, "c"), gormplugin.ErrNameTaken)
		testerr.Is(t, "a query", tx.First(&gormplugintest.Suite{}).Error, gormplugin.ErrNameTaken)
		return nil
	}), gormplugin.ErrNameTaken)
	var rows int64
	if err := db.Model(&gormplugintest.Suite{}).Count(&rows).Error; err != nil || rows != 2 {
		t.Errorf("%d rows (%v), want the root and a", rows, err)
	}
}

// A deadlock undoes no more than what came after the last savepoint. Without one, the COMMIT says
// that the transaction is to be run again.
func TestTransaction_deadlockOnPostgres(t *testing.T) {
	t.Parallel()
	db := guarded(t, databases.Postgres(t, databases.ByteOrder, nil))
	root := &gormplugintest.Suite{PlanID: 1}
	testerr.Must(t, db.Create(root).Error)
	create := func(tx *gorm.DB, name string) error {
		return tx.Create(&gormplugintest.Suite{ParentID: &root.ID, Name: name}).Error
	}
	deadlock := func(tx *gorm.DB) error {
		return tx.Exec("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$").Error
	}
	testerr.Must(t, db.Transaction(func(tx *gorm.DB) error {
		testerr.Must(t, create(tx, "a"))
		if state := dialect.SQLState(tx.Transaction(deadlock)); state != "40P01" {
			t.Errorf("the nested transaction failed by %q", state)
		}
		return create(tx, "b")
	}))
	testerr.Is(t, "the commit", db.Transaction(func(tx *gorm.DB) error {
		testerr.Must(t, create(tx, "c"))
		_ = deadlock(tx)
		return nil
	}), gormplugin.ErrRetry)
	var rows int64
	if err := db.Model(&gormplugintest.Suite{}).Count(&rows).Error; err != nil || rows != 3 {
		t.Errorf("%d rows (%v), want the root, a and b", rows, err)
	}
}

// Where only the caller sees the error of a statement, as where the rows of a query are read, and
// commits nevertheless, it is known that nothing was written, and what is run before the COMMIT is
// told why.
func TestTransaction_errorsThatOnlyTheCallerSees(t *testing.T) {
	t.Parallel()
	db := guarded(t, databases.Postgres(t, databases.ByteOrder, nil))
	root := &gormplugintest.Suite{PlanID: 1}
	testerr.Must(t, db.Create(root).Error)
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
			err := db.Transaction(func(tx *gorm.DB) error {
				testerr.Must(t, gormplugin.AfterEnd(tx, func(_ context.Context, o gormplugin.Outcome) { outcomes = append(outcomes, o) }))
				testerr.Must(t, tx.Create(&gormplugintest.Suite{ParentID: &root.ID, Name: "a"}).Error)
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
