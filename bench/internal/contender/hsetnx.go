package contender

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// hsetnx marks a path from the root to the leaf in the cheapest way, by a field for each node in
// one hash. It has no lease, no owner and no shared modes, and it is not atomic.
func hsetnx() Contender {
	return Contender{
		Name: HSetNX, Excludes: true,
		What: "a hash per tree: HSETNX of every node in one pipeline, HDEL of all; all exclusive, no lease",
		Open: func(_ context.Context, at Server) (Locks, error) {
			return openRedis(at, func(client *redis.Client, tree string, leaf pathlock.Path) Lock {
				l := &hsetnxLock{client: client, hash: at.Prefix + ":{" + tree + "}"}
				for a := range leaf.Ancestors() {
					l.fields = append(l.fields, a.String())
				}
				l.fields = append(l.fields, leaf.String())
				return l
			})
		},
	}
}

type hsetnxLock struct {
	client *redis.Client
	hash   string
	fields []string
}

func (l *hsetnxLock) Acquire(ctx context.Context) error {
	set := make([]*redis.BoolCmd, len(l.fields))
	_, err := l.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, field := range l.fields {
			set[i] = p.HSetNX(ctx, l.hash, field, "1")
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("HSETNX: %w", err)
	}
	var mine []string
	for i, s := range set {
		if s.Val() {
			mine = append(mine, l.fields[i])
		}
	}
	if len(mine) == len(l.fields) {
		return nil
	}
	if len(mine) > 0 {
		if err := l.client.HDel(ctx, l.hash, mine...).Err(); err != nil {
			return fmt.Errorf("HDEL: %w", err)
		}
	}
	return ErrHeld
}

func (l *hsetnxLock) Release(ctx context.Context) error {
	return l.client.HDel(ctx, l.hash, l.fields...).Err()
}
