package plans

import (
	"context"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// Migrate makes the tables, or adds what they lack. Any number of instances may call it at once:
// one does the work, and the others wait for it. The plugin must be registered in db.Write.
//
// What is not protected gets tables by GORM alone, which have no unique index over siblings: that
// index is a protection, too.
func Migrate(ctx context.Context, db *database.DB, protected bool) error {
	write := db.Write.WithContext(ctx)
	if db.Dialect == sqlstore.MySQL {
		var version string
		if err := write.Raw(`SELECT VERSION()`).Scan(&version).Error; err != nil {
			return err
		}
		write = write.Set("gorm:table_options", "DEFAULT CHARACTER SET utf8mb4 COLLATE "+dialect.MySQL.Collation(version)).Session(&gorm.Session{})
	}
	all := []any{&model.Plan{}, &model.PlanChange{}, &model.RecycledItem{}, &model.RecycledNode{}}
	if protected {
		return gormplugin.AutoMigrate(write, all...)
	}
	if write.Migrator().HasTable(&model.Suite{}) {
		return nil
	}
	return write.AutoMigrate(append(all, &model.Suite{}, &model.Case{})...)
}
