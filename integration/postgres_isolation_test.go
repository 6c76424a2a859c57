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
// where those who wrote them were at another level. Whoever asks for such a level, and in whatever
// way, is refused before anything is written.
func TestPostgresUnsafeLevels(t *testing.T) {
	t.Parallel()
	writes := map[string]func(db *gorm.DB, root *gormplugintest.Suite) error{
		"insert": func(db *gorm.DB, root *gormplugintest.Suite) error {
			return db.Create(&gormplugintest.Suite{ParentID: &root.ID, Name: "new"}).Error
		},
		"guard": func(db *gorm.DB, root *gormplugintest.Suite) error {
			return db.Transaction(func(tx *gorm.DB) error {
				_, err := gormplugin.Assert(tx, &gormplugintest.Suite{}, root.ID)
				return err
			})
		},
	}
	ways := map[string]func(db *gorm.DB, write func(*gorm.DB) error) error{
		"the options of a transaction": func(db *gorm.DB, write func(*gorm.DB) error) error {
			return db.Transaction(write, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		},
		"SET TRANSACTION": func(db *gorm.DB, write func(*gorm.DB) error) error {
			return db.Transaction(func(tx *gorm.DB) error {
				if err := tx.Exec("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").Error; err != nil {
					return err
				}
				return write(tx)
			})
		},
	}
	db := guarded(t, databases.Postgres(t, databases.ByteOrder, nil))
	root := &gormplugintest.Suite{PlanID: 1}
	testerr.Must(t, errors.Join(db.Create(root).Error, db.Create(&gormplugintest.Suite{ParentID: &root.ID, Name: "a"}).Error))
	check := func(err error) {
		t.Helper()
		if !errors.Is(err, gormplugin.ErrIsolation) {
			t.Errorf("got the error %v, want %v", err, gormplugin.ErrIsolation)
		}
		var paths []string
		if err := db.Model(&gormplugintest.Suite{}).Order("path").Pluck("path", &paths).Error; err != nil || len(paths) != 2 || paths[1] != "/a" {
			t.Errorf("the tree is %q (%v), want the root and /a", paths, err)
		}
	}
	for what, write := range writes {
		for how, begin := range ways {
			t.Run(what+" by "+how, func(t *testing.T) {
				check(begin(db, func(tx *gorm.DB) error { return write(tx, root) }))
			})
		}
	}
}

// SERIALIZABLE sees only conflicts with transactions that run at it: all writers do, or none.
func TestPostgresSerializableBesideOthers(t *testing.T) {
	t.Parallel()
	dbs := map[string]*gorm.DB{}
	for _, level := range []string{"read committed", "repeatable read", "serializable"} {
		dbs[level] = guarded(t, databases.Postgres(t, databases.ByteOrder, map[string]string{"default_transaction_isolation": level}))
	}
	for plan, c := range []struct {
		byDefault string
		asked     sql.IsolationLevel
		want      error
	}{
		{"read committed", sql.LevelSerializable, gormplugin.ErrIsolation},
		{"read committed", sql.LevelReadCommitted, nil},
		{"read committed", sql.LevelReadUncommitted, nil},
		{"serializable", sql.LevelReadCommitted, gormplugin.ErrIsolation},
		{"repeatable read", sql.LevelDefault, gormplugin.ErrIsolation},
		{"repeatable read", sql.LevelReadCommitted, nil},
		{"serializable", sql.LevelSerializable, nil},
		{"serializable", sql.LevelDefault, nil},
	} {
		t.Run(c.asked.String()+" beside "+c.byDefault, func(t *testing.T) {
			root := &gormplugintest.Suite{PlanID: int64(1 + plan)}
			err := dbs[c.byDefault].Transaction(func(tx *gorm.DB) error {
				if err := tx.Create(root).Error; err != nil {
					return err
				}
				return tx.Create(&gormplugintest.Suite{ParentID: &root.ID, Name: "a"}).Error
			}, &sql.TxOptions{Isolation: c.asked})
			if !errors.Is(err, c.want) {
				t.Errorf("got the error %v, want %v", err, c.want)
			}
		})
	}
}
