package contender

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// ping locks nothing. Its two round trips are the least that any lock in Redis costs.
func ping() Contender {
	return Contender{
		Name: Ping, Shares: true, What: "no lock: PING, and PING again",
		Open: func(_ context.Context, at Server) (Locks, error) {
			return openRedis(at, func(client *redis.Client, _ string, _ pathlock.Path) Lock {
				return floorLock(func(ctx context.Context) error { return client.Ping(ctx).Err() })
			})
		},
	}
}

// noop locks nothing. Its two calls of an empty script are the least that any lock in a script
// costs.
func noop() Contender {
	return Contender{
		Name: Noop, Shares: true, What: "no lock: EVALSHA of an empty script, twice",
		Open: func(_ context.Context, at Server) (Locks, error) {
			script := redis.NewScript("return 1")
			return openRedis(at, func(client *redis.Client, tree string, leaf pathlock.Path) Lock {
				keys := []string{at.key(tree, leaf)}
				return floorLock(func(ctx context.Context) error { return script.Run(ctx, client, keys).Err() })
			})
		},
	}
}

// floorLock sends the same command to acquire and to release.
type floorLock func(context.Context) error

func (l floorLock) Acquire(ctx context.Context) error { return l(ctx) }
func (l floorLock) Release(ctx context.Context) error { return l(ctx) }
