package redisstore

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// Trees implements [pathlock.Store]. It scans the names of all keys, on every primary of a cluster: nothing
// about which trees are in use has to be kept, or can be left behind, but its cost grows with the number of
// keys in Redis. It is for people who look at locks.
func (s *Store) Trees(ctx context.Context) ([]pathlock.Tree, error) {
	what := operation{verb: "list the trees"}
	if err := s.begin(); err != nil {
		return nil, unavailable(what, err)
	}
	defer s.commands.Done()
	var mu sync.Mutex
	trees := make(map[pathlock.Tree]bool) // whether it is certain that somebody holds or waits
	err := s.everyNode(ctx, func(ctx context.Context, node redis.Cmdable) error {
		return s.scan(ctx, node, func(keys []string) {
			mu.Lock()
			defer mu.Unlock()
			for _, key := range keys {
				if tree, ok := s.keys.treeInUse(key); ok {
					trees[tree] = trees[tree] || !strings.HasSuffix(key, locksKey)
				}
			}
		})
	})
	var doubtful []pathlock.Tree
	for tree, certain := range trees {
		if !certain {
			doubtful = append(doubtful, tree)
		}
	}
	for portion := range slices.Chunk(doubtful, treesPage) {
		if err == nil {
			err = s.sortOut(ctx, portion, trees)
		}
	}
	switch {
	case err == nil:
		return slices.Collect(maps.Keys(trees)), nil
	case ctx.Err() != nil:
		return nil, interrupted(ctx, what)
	default:
		return nil, s.failed(ctx, what, err)
	}
}

// treesPage is how many trees are asked about at once.
const treesPage = 500

// sortOut deletes those of the trees in which nobody holds or waits: all that there is remembers withdrawn requests.
func (s *Store) sortOut(ctx context.Context, portion []pathlock.Tree, trees map[pathlock.Tree]bool) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.timeout)
	defer cancel()
	held, waiting := make([]*redis.BoolCmd, len(portion)), make([]*redis.IntCmd, len(portion))
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, tree := range portion {
			held[i] = p.HExists(ctx, s.keys.locks(tree), gateNode)
			waiting[i] = p.ZLexCount(ctx, s.keys.queue(tree), "["+gateNode, "("+gateNode+"~")
		}
		return nil
	})
	for i, tree := range portion {
		if err == nil && !held[i].Val() && waiting[i].Val() == 0 {
			delete(trees, tree)
		}
	}
	return err
}

// scan hands the names of a node's keys to found, page by page. The store's timeout is for one page:
// there is no saying how many there are.
func (s *Store) scan(ctx context.Context, node redis.Cmdable, found func(keys []string)) error {
	const page = 1000
	for cursor := uint64(0); ; {
		bounded, cancel := context.WithTimeout(ctx, s.config.timeout)
		keys, next, err := node.Scan(bounded, cursor, s.keys.pattern(), page).Result()
		cancel()
		if err != nil {
			return err
		}
		found(keys)
		if next == 0 {
			return nil
		}
		cursor = next
	}
}

// everyNode calls do for each node that has keys of its own. Finding out which these are is bounded by
// the store's timeout, since a client may ask a node that has gone; do bounds itself.
func (s *Store) everyNode(ctx context.Context, do func(context.Context, redis.Cmdable) error) error {
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return do(ctx, s.client)
	}
	bounded, cancel := context.WithTimeout(ctx, s.config.timeout)
	defer cancel()
	return cluster.ForEachMaster(bounded, func(_ context.Context, node *redis.Client) error { return do(ctx, node) })
}
