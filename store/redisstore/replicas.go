package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/store/redisstore/internal/calls"
)

// replicate waits until as many replicas as the store asks for have a grant that the primary has
// made.
func (s *Store) replicate(ctx context.Context, r *request) error {
	if s.config.replicas == 0 {
		return nil
	}
	fence := s.keys.fence(r.Tree)
	n, err := calls.Ask(ctx, s.calls, r.what, nil, s.left(r), func(ctx context.Context) (int64, error) {
		node, err := primary(ctx, s.client, fence)
		if err != nil {
			return 0, err
		}
		// WAIT is for what the same connection has written, and for all that was written before
		// that. Somebody else's release may have made the grant, so this connection writes
		// something that changes nothing.
		pipe := node.Pipeline()
		pipe.PExpire(ctx, fence, fenceTTL)
		waited := pipe.Do(ctx, "wait", s.config.replicas, milliseconds(s.config.replication))
		if _, err := pipe.Exec(ctx); err != nil {
			return 0, err
		}
		return waited.Int64()
	})
	if err == nil && n < int64(s.config.replicas) {
		err = calls.Unavailable(r.what, fmt.Errorf("%d of %d replicas had the grant within %v", n, s.config.replicas, s.config.replication))
	}
	return err
}

// fenceTTL is how long the scripts let a tree's fence live on (see FENCE_TTL in
// scripts/lib/keys.lua).
const fenceTTL = 7 * 24 * time.Hour

// primary returns a client of the node that has a key.
func primary(ctx context.Context, client redis.UniversalClient, key string) (redis.Cmdable, error) {
	if cluster, ok := client.(*redis.ClusterClient); ok {
		return cluster.MasterForKey(ctx, key)
	}
	return client, nil
}
