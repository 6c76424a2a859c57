package integration

import (
	"errors"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// sharding goes by the name of gorm.io/sharding, and puts its own connections around those of each
// statement, as that does. It has no shards.
type sharding struct{}

func (sharding) Name() string { return "gorm:sharding" }

func (sharding) Initialize(db *gorm.DB) error {
	around := func(db *gorm.DB) { db.Statement.ConnPool = &shardingPool{db.Statement.ConnPool} }
	return errors.Join(
		db.Callback().Create().Before("*").Register("gorm:sharding", around), db.Callback().Query().Before("*").Register("gorm:sharding", around),
		db.Callback().Update().Before("*").Register("gorm:sharding", around), db.Callback().Delete().Before("*").Register("gorm:sharding", around),
		db.Callback().Row().Before("*").Register("gorm:sharding", around), db.Callback().Raw().Before("*").Register("gorm:sharding", around),
	)
}

// shardingPool passes for a transaction whatever it is around.
type shardingPool struct{ gorm.ConnPool }

func (*shardingPool) Commit() error   { return nil }
func (*shardingPool) Rollback() error { return nil }

// gorm.io/sharding sends a statement to another table than the one that was asserted. So it is
// refused, with the reason, where it is registered before the plugin; behind the plugin, where
// anything is asked of the plugin.
func TestShardingIsRefused(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		db := databases.Use(t, gormlite.Open(databases.SQLiteFile(t, "&_txlock=immediate")))
		plugin := gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&gormplugintest.Branch{}))
		errs := make(map[string]error)
		if before {
			testerr.Must(t, db.Use(sharding{}))
			errs["Use"] = db.Use(plugin)
		} else {
			testerr.Must(t, errors.Join(db.Use(plugin), db.Use(sharding{})))
			errs["AutoMigrate"] = gormplugin.AutoMigrate(db)
			errs["Create"] = db.Create(&gormplugintest.Branch{TreeID: 1}).Error
			errs["Rename"] = gormplugin.Rename(db, &gormplugintest.Branch{}, 1, "b")
		}
		for what, err := range errs {
			if !errors.Is(err, gormplugin.ErrUnsupported) || !strings.Contains(err.Error(), "gorm.io/sharding") {
				t.Errorf("%s, registered before the plugin: %t: got the error %v", what, before, err)
			}
		}
	}
}
