package readme

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
)

// A job that needs several nodes at once takes the locks for all of its writes.
func tidy(ctx context.Context, locker *pathlock.Locker, db *gorm.DB, plan pathlock.Tree) error {
	lock, err := locker.Acquire(ctx, pathlock.Request{
		Tree: plan,
		Claims: []pathlock.Claim{
			pathlock.X(pathlock.MustParsePath("/drafts")),
			pathlock.S(pathlock.MustParsePath("/templates")),
		},
		Wait: 10 * time.Second,
		Note: "nightly tidy",
	})
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release(ctx) }()
	// lock.Context() carries the locks, and ends if the lease is lost.
	return db.WithContext(lock.Context()).Where("plan_id = ? AND path = ?", plan.ID(), "/drafts/old").Delete(&Suite{}).Error
}
