package redisstore

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// The kinds of pub/sub. Plain messages go by one channel for all trees; a cluster hands them to all
// of its nodes. Sharded ones, which clusters have from Redis 7 on, stay with the primary and the
// replicas of one slot, so that each tree has a channel in its own slot.
const (
	unknownPubSub int32 = iota // a cluster that has not been asked
	plainPubSub
	shardedPubSub
)

// isSharded reports whether a channel is for sharded pub/sub: its name has a hash tag. The
// scripts go by the same rule when they publish.
func isSharded(channel string) bool { return strings.Contains(channel, "{") }

// channel names the channel on which this store is told what it waits for in a tree.
func (l *listener) channel(tree pathlock.Tree) string {
	if l.pubsub.Load() == shardedPubSub {
		return l.keys.treeChannel(tree, l.id)
	}
	return l.keys.channel(l.id)
}

// decide finds out what kind of pub/sub there is. It has to be done before the first request that
// waits is made, because the scripts could not publish in a way that the server does not know.
func (s *Store) decide(ctx context.Context, what operation) error {
	if s.listener.pubsub.Load() != unknownPubSub {
		return nil
	}
	kind, err := call(ctx, s, what, func(ctx context.Context) (int32, error) {
		return s.listener.ask(ctx)
	}, nil)
	if err != nil {
		return err
	}
	s.listener.pubsub.Store(kind)
	return nil
}

// probe is how long the nodes of a cluster have to say what they know; one that hangs must not keep
// back the others.
const probe = time.Second

// ask asks the primaries of a cluster what kind of pub/sub they all have. It is enough if one
// answers: the tree in question may be on it.
func (l *listener) ask(ctx context.Context) (int32, error) {
	cluster, ok := l.client.(*redis.ClusterClient)
	if !ok {
		return plainPubSub, nil
	}
	var known, unknown atomic.Bool
	// The context is for finding out who the primaries are, which may ask a node that hangs.
	bounded, cancel := context.WithTimeout(ctx, probe)
	defer cancel()
	err := cluster.ForEachMaster(bounded, func(_ context.Context, node *redis.Client) error {
		bounded, cancel := context.WithTimeout(ctx, probe)
		defer cancel()
		about, err := node.Do(bounded, "command", "info", "spublish").Slice()
		switch {
		case err == nil && len(about) == 1 && about[0] != nil:
			known.Store(true)
		case answered(err):
			unknown.Store(true)
		default:
			return err
		}
		return nil
	})
	switch {
	case unknown.Load():
		return plainPubSub, nil
	case known.Load():
		return shardedPubSub, nil
	default:
		return unknownPubSub, err
	}
}

// locate returns the node that serves a channel, by its name, and what to subscribe with.
func (l *listener) locate(ctx context.Context, channel string) (string, subscriber, error) {
	cluster, ok := l.client.(*redis.ClusterClient)
	if !ok || !isSharded(channel) {
		return "", l.client, nil
	}
	node, err := cluster.MasterForKey(ctx, channel)
	if err != nil {
		return "", nil, err
	}
	return node.Options().Addr, node, nil
}

// relocate has the client of a cluster find out anew which node has which slots.
func (l *listener) relocate(ctx context.Context) {
	if cluster, ok := l.client.(*redis.ClusterClient); ok && ctx.Err() == nil {
		cluster.ReloadState(ctx)
	}
}
