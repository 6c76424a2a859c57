package redisstore

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// Trees implements [pathlock.Store]. It scans the names of all keys, on every primary of a cluster,
// so that no list of trees has to be kept or can go stale. Its cost grows with the number of keys
// in Redis: Trees is for people who look at locks.
func (s *store) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	what := operation{Verb: "list the trees", Looks: true}
	nodes, err := s.nodes(ctx, what)
	if err != nil {
		return nil, err
	}
	trees := make(map[pathlock.Tree]bool)
	for _, node := range nodes {
		err := s.scan(ctx, what, node, func(keys []string) {
			for _, key := range keys {
				if tree, ok := s.keys.treeInUse(key); ok {
					trees[tree] = true
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.Collect(maps.Keys(trees)), nil
}

// scan hands the names of a node's keys to found, page by page. The store's timeout is for each
// page, since there may be any number of them.
func (s *store) scan(ctx context.Context, what operation, node redis.Cmdable, found func(keys []string)) error {
	const page = 1000
	for cursor := uint64(0); ; {
		answer, err := do(ctx, s.calls, what, func(ctx context.Context) (*redis.ScanCmd, error) {
			cmd := node.Scan(ctx, cursor, s.keys.pattern(), page)
			return cmd, cmd.Err()
		})
		if err != nil {
			return err
		}
		var keys []string
		keys, cursor = answer.Val()
		found(keys)
		if cursor == 0 {
			return nil
		}
	}
}

// nodes returns the nodes that have keys of their own.
func (s *store) nodes(ctx context.Context, what operation) ([]redis.Cmdable, error) {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return []redis.Cmdable{s.client}, nil
	}
	return do(ctx, s.calls, what, func(ctx context.Context) (nodes []redis.Cmdable, err error) {
		var mu sync.Mutex
		err = cluster.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
			mu.Lock()
			defer mu.Unlock()
			nodes = append(nodes, node)
			return nil
		})
		return nodes, err
	})
}
