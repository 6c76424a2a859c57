package contender

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

const redislockModule = "github.com/bsm/redislock"

// pollPause is the pause between two attempts of a waiter of redislock, which gets no message.
const pollPause = 100 * time.Millisecond

// redislockOne is what most programs do today: one key, for the node or for the whole tree.
func redislockOne() Contender {
	return Contender{
		Name: Redislock, Module: redislockModule, Excludes: true, Shares: true,
		What: "redislock.Obtain of one key, the leaf's; waits by asking every 100 ms",
		Open: func(_ context.Context, at Server) (Locks, error) {
			return openRedis(at, func(client *redis.Client, tree string, leaf pathlock.Path) Lock {
				return &redislockLock{client: redislock.New(client), keys: []string{at.key(tree, leaf)}}
			})
		},
	}
}

// redislockMulti locks the same nodes as the store, but all of them exclusively.
func redislockMulti() Contender {
	return Contender{
		Name: ObtainMulti, Module: redislockModule, Excludes: true,
		What: "redislock.ObtainMulti of the leaf's key and of every node's above it, all exclusive",
		Open: func(_ context.Context, at Server) (Locks, error) {
			return openRedis(at, func(client *redis.Client, tree string, leaf pathlock.Path) Lock {
				return &redislockLock{client: redislock.New(client), keys: at.keys(tree, leaf)}
			})
		},
	}
}

type redislockLock struct {
	client *redislock.Client
	keys   []string
	held   *redislock.Lock
}

func (l *redislockLock) Acquire(ctx context.Context) error { return l.obtain(ctx, nil) }

func (l *redislockLock) Wait(ctx context.Context) error {
	return l.obtain(ctx, &redislock.Options{RetryStrategy: redislock.LinearBackoff(pollPause)})
}

func (l *redislockLock) obtain(ctx context.Context, options *redislock.Options) error {
	var err error
	if len(l.keys) == 1 {
		l.held, err = l.client.Obtain(ctx, l.keys[0], lease, options)
	} else {
		l.held, err = l.client.ObtainMulti(ctx, l.keys, lease, options)
	}
	if errors.Is(err, redislock.ErrNotObtained) {
		return errors.Join(ErrHeld, err)
	}
	return err
}

func (l *redislockLock) Release(ctx context.Context) error { return l.held.Release(ctx) }
