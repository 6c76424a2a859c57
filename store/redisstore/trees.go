package redisstore

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// Trees implements [pathlock.Store]. It scans the names of all keys, on every primary of a cluster: nothing
// about which trees are in use has to be kept, or can be left behind, but its cost grows with the number of
// keys in Redis. It is for people who look at locks.
func (s *Store) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	return call(ctx, s, "list the trees", func(ctx context.Context) ([]pathlock.Tree, error) {
		var mu sync.Mutex
		trees := make(map[pathlock.Tree]bool)
		scan := func(ctx context.Context, node redis.Cmdable) error {
			names := node.Scan(ctx, 0, s.keys.pattern(), 1000).Iterator()
			for names.Next(ctx) {
				if tree, ok := s.keys.treeInUse(names.Val()); ok {
					mu.Lock()
					trees[tree] = true
					mu.Unlock()
				}
			}
			return names.Err()
		}
		if err := s.everyNode(ctx, scan); err != nil {
			return nil, err
		}
		return slices.Collect(maps.Keys(trees)), nil
	}, nil)
}

// everyNode calls do for each node that has keys of its own.
func (s *Store) everyNode(ctx context.Context, do func(context.Context, redis.Cmdable) error) error {
	onClient := func(ctx context.Context, c *redis.Client) error { return do(ctx, c) }
	switch c := s.client.(type) {
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, onClient)
	case *redis.Ring:
		return c.ForEachShard(ctx, onClient)
	default:
		return do(ctx, s.client)
	}
}
