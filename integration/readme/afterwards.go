package readme

import (
	"context"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
)

func createAndTell(ctx context.Context, db *gorm.DB, suite *Suite, tell func(context.Context, Suite)) error {
	return gormplugin.Transaction(ctx, db, func(tx *gorm.DB) error {
		if err := tx.Create(suite).Error; err != nil {
			return err
		}
		return gormplugin.AfterCommit(tx, func(ctx context.Context) { tell(ctx, *suite) })
	})
}
