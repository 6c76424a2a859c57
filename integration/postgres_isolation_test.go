package integration

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// guarded opens the database with the plugin and makes the tables of the test suite.
func guarded(t *testing.T, d gormplugintest.Database) *gorm.DB {
	t.Helper()
	return guardedBy(t, d, gormplugintest.NewPlugin(pathlock.New(memstore.New())), gormplugintest.Models()...)
}

// guardedBy makes the tables of models by GORM alone, and uses the plugin then.
func guardedBy(t *testing.T, d gormplugintest.Database, plugin *gormplugin.Plugin, models ...any) *gorm.DB {
	t.Helper()
	db := databases.Use(t, d.Dialector(sql.OpenDB(d.Connector)))
	testerr.Must(t, db.AutoMigrate(models...))
	testerr.Must(t, db.Use(plugin))
	return db
}

// At REPEATABLE READ an UPDATE misses rows that are newer than the snapshot; at SERIALIZABLE, too,
// where those who wrote them were at another level: all writers are at it, or none. A transaction
// at such a level is refused before anything is written, however it was requested.
func TestPostgres_isolation(t *testing.T) {
	t.Parallel()
	dbs := map[string]*gorm.DB{}
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		dbs[level] = guarded(t, databases.Postgres(t, databases.ByteOrder, map[string]string{"default_transaction_isolation": level}))
	}
	plan := int64(0)
	check := func(name, byDefault string, want error, options ...*sql.TxOptions) {
		t.Helper()
		plan++
		root, written := &gormplugintest.Suite{PlanID: plan}, int64(0)
		err := dbs[byDefault].Transaction(func(tx *gorm.DB) error {
			if len(options) == 0 {
				testerr.Must(t, tx.Exec("SET TRANSACTION ISOLATION LEVEL "+name).Error)
			}
			if err := tx.Create(root).Error; err != nil {
				return err
			}
			return tx.Create(&gormplugintest.Suite{ParentID: &root.ID, Name: "a"}).Error
		}, options...)
		testerr.Must(t, dbs[byDefault].Model(&gormplugintest.Suite{}).Where("plan_id", plan).Count(&written).Error)
		if !errors.Is(err, want) || (written > 0) != (want == nil) {
			t.Errorf("%s beside %s: %d rows, the error %v, want %v", name, byDefault, written, err, want)
		}
	}
	for _, c := range []struct {
		byDefault string
		asked     sql.IsolationLevel
		want      error
	}{
		{"read committed", sql.LevelRepeatableRead, gormplugin.ErrIsolation},
		{"read committed", sql.LevelSerializable, gormplugin.ErrIsolation},
		{"read committed", sql.LevelReadCommitted, nil},
		{"read committed", sql.LevelReadUncommitted, nil},
		{"serializable", sql.LevelReadCommitted, gormplugin.ErrIsolation},
		{"repeatable read", sql.LevelDefault, gormplugin.ErrIsolation},
		{"repeatable read", sql.LevelReadCommitted, nil},
		{"serializable", sql.LevelSerializable, nil},
		{"serializable", sql.LevelDefault, nil},
	} {
		check(c.asked.String(), c.byDefault, c.want, &sql.TxOptions{Isolation: c.asked})
	}
	check("REPEATABLE READ", "read committed", gormplugin.ErrIsolation)
	root := &gormplugintest.Suite{PlanID: plan + 1}
	testerr.Must(t, dbs["read committed"].Create(root).Error)
	testerr.Is(t, "a guard", dbs["read committed"].Transaction(func(tx *gorm.DB) error {
		_, err := gormplugin.Assert(tx, &gormplugintest.Suite{}, root.ID)
		return err
	}, &sql.TxOptions{Isolation: sql.LevelRepeatableRead}), gormplugin.ErrIsolation)
}
