package integration

import (
	"context"
	"database/sql"
	"testing"

	"github.com/glebarez/sqlite"
	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// SQLite refuses a COMMIT while a deferred foreign key is broken, and leaves the transaction open.
// It is rolled back, as its functions are told, and not committed by whoever comes next on the
// connection.
func TestTransaction_commitRefusedBySQLite(t *testing.T) {
	t.Parallel()
	for name, dialector := range map[string]gorm.Dialector{
		"ncruces":  gormlite.Open(databases.SQLiteFile(t, "&_pragma=foreign_keys(1)")),
		"glebarez": sqlite.Open(databases.SQLiteFile(t, "&_pragma=foreign_keys(1)")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := gorm.Open(dialector, &gorm.Config{Logger: logger.Discard})
			testerr.Must(t, err)
			pool, err := db.DB()
			testerr.Must(t, err)
			defer func() { testerr.Must(t, pool.Close()) }()
			pool.SetMaxOpenConns(1)
			testerr.Must(t, db.Use(gormplugintest.NewPlugin(pathlock.New(memstore.New()))))
			testerr.Must(t, db.Exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED)").Error)
			told := gormplugin.Unknown
			err = db.Transaction(func(tx *gorm.DB) error {
				testerr.Must(t, gormplugin.AfterEnd(tx, func(_ context.Context, outcome gormplugin.Outcome) { told = outcome }))
				return tx.Exec("INSERT INTO orders (id, parent) VALUES (1, 7)").Error
			})
			if err == nil || told != gormplugin.RolledBack {
				t.Errorf("the error is %v, the outcome %d", err, told)
			}
			testerr.Must(t, db.Transaction(func(tx *gorm.DB) error { return tx.Exec("INSERT INTO orders (id) VALUES (7)").Error }, &sql.TxOptions{}))
			var orders []int
			testerr.Must(t, db.Raw("SELECT id FROM orders").Scan(&orders).Error)
			if len(orders) != 1 {
				t.Errorf("the orders are %v", orders)
			}
		})
	}
}
