package readme

import (
	"context"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// A job without HTTP. The plugin takes the locks before the transaction begins, and releases them
// after the commit.
func archive(ctx context.Context, db *gorm.DB, suite *Suite) error {
	return db.WithContext(ctx).Model(suite).Update("name", suite.Name+" (archived)").Error
}

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

// A program without a Locker takes a whole plan by redislock. New node locks are refused from then
// on, and ObtainGate waits until the present ones have ended.
func foreign(ctx context.Context, client redis.UniversalClient, plan pathlock.Tree) error {
	gate, err := redisstore.ObtainGate(ctx, client, plan, time.Minute, &redislock.Options{
		RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(100*time.Millisecond), 50),
	})
	if err != nil {
		return err
	}
	defer func() { _ = gate.Release(ctx) }()
	return nil // the plan is all yours here
}
