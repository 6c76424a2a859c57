package contender

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// redsyncOne is redsync on one server, with one key.
func redsyncOne() Contender {
	return Contender{
		Name: Redsync, Module: "github.com/go-redsync/redsync/v4", Excludes: true, Shares: true,
		What: "redsync on one server: one key, the leaf's",
		Open: func(_ context.Context, at Server) (Locks, error) {
			return openRedis(at, func(client *redis.Client, tree string, leaf pathlock.Path) Lock {
				return &redsyncLock{redsync.New(goredis.NewPool(client)).NewMutex(at.key(tree, leaf), redsync.WithExpiry(lease))}
			})
		},
	}
}

type redsyncLock struct{ mutex *redsync.Mutex }

func (l *redsyncLock) Acquire(ctx context.Context) error {
	err := l.mutex.TryLockContext(ctx)
	if _, taken := errors.AsType[*redsync.ErrTaken](err); taken {
		return errors.Join(ErrHeld, err)
	}
	return err
}

func (l *redsyncLock) Release(ctx context.Context) error {
	ok, err := l.mutex.UnlockContext(ctx)
	if err == nil && !ok {
		return fmt.Errorf("redsync: %s was not held", l.mutex.Name())
	}
	return err
}
