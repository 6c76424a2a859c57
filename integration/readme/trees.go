package readme

import (
	"context"
	"errors"
	"log/slog"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
)

func checkSchema(db *gorm.DB) error {
	err := gormplugin.Verify(db)
	if err != nil && !errors.Is(err, gormplugin.ErrUnsafeSchema) {
		slog.Warn("the schema could be better", "findings", err)
		return nil
	}
	return err
}

func publish(ctx context.Context, db *gorm.DB, draft, shelf int64) (published []Suite, err error) {
	err = gormplugin.Transaction(ctx, db, func(tx *gorm.DB) error {
		var top Suite
		if _, err := gormplugin.Copy(tx, &top, draft, shelf, gormplugin.CopyAs("1.0"), gormplugin.CopyLeaves(&Case{}, nil)); err != nil {
			return err
		}
		if err := gormplugin.Rename(tx, &Suite{}, draft, "1.1 draft"); err != nil {
			return err
		}
		return gormplugin.Subtree(tx, &Suite{}, top.ID).Order("path").Find(&published).Error
	})
	return published, err
}

func rewrite(ctx context.Context, db *gorm.DB, id int64, statement string, values ...any) error {
	return gormplugin.Transaction(ctx, db, func(tx *gorm.DB) error {
		// It takes the path locks, and asserts that the row is at the locked path.
		if _, err := gormplugin.LockSubtrees(tx, &Suite{}, id); err != nil {
			return err
		}
		return gormplugin.AllowRawWrites(tx).Exec(statement, values...).Error
	})
}
