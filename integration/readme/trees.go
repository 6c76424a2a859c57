package readme

import (
	"context"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
)

func rewrite(ctx context.Context, db *gorm.DB, id int64, statement string, values ...any) error {
	return gormplugin.Transaction(ctx, db, func(tx *gorm.DB) error {
		// It takes the path locks, and asserts that the row is at the locked path.
		if _, err := gormplugin.LockSubtrees(tx, &Suite{}, id); err != nil {
			return err
		}
		return gormplugin.AllowRawWrites(tx).Exec(statement, values...).Error
	})
}
