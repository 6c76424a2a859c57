package readme

import (
	"context"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
)

func publishPrice(ctx context.Context, db *gorm.DB, lock *pathlock.Lock, price int) error {
	written := db.WithContext(ctx).Table("prices").Where("id = 1 AND fence <= ?", lock.Fence()).
		Updates(map[string]any{"price": price, "fence": lock.Fence()})
	if written.Error == nil && written.RowsAffected == 0 {
		return pathlock.ErrLost // somebody with a later lock has written
	}
	return written.Error
}
