package integration

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
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
	refused := func(t *testing.T, what string, err error) {
		t.Helper()
		if !errors.Is(err, gormplugin.ErrUnsupported) || !strings.Contains(err.Error(), "gorm.io/sharding sends a statement to another table") {
			t.Errorf("%s: got the error %v", what, err)
		}
	}
	open := func(t *testing.T) *gorm.DB {
		t.Helper()
		db, err := gorm.Open(gormlite.Open(fileName(t, "&_txlock=immediate")), &gorm.Config{Logger: logger.Discard})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if pool, err := db.DB(); err == nil {
				_ = pool.Close()
			}
		})
		return db
	}
	plugin := func() gorm.Plugin {
		return gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&gormplugintest.Branch{}))
	}
	t.Run("before the plugin", func(t *testing.T) {
		db := open(t)
		if err := db.Use(sharding{}); err != nil {
			t.Fatal(err)
		}
		refused(t, "Use", db.Use(plugin()))
	})
	t.Run("behind the plugin", func(t *testing.T) {
		db := open(t)
		if err := errors.Join(db.Use(plugin()), db.Use(sharding{})); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		db = db.WithContext(ctx)
		refused(t, "AutoMigrate", gormplugin.AutoMigrate(db))
		refused(t, "Verify", gormplugin.Verify(db))
		refused(t, "Create", db.Create(&gormplugintest.Branch{TreeID: 1}).Error)
		refused(t, "Rename", gormplugin.Rename(db, &gormplugintest.Branch{}, 1, "b"))
	})
}
