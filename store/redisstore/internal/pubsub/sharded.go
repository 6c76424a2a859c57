package pubsub

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/calls"
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

// Channel names the channel on which this store is told what it waits for in a tree.
func (l *Listener) Channel(tree pathlock.Tree) string {
	if l.pubsub.Load() == shardedPubSub {
		return l.channels.Tree(tree)
	}
	return l.channels.All
}

// Decided reports whether it is known what kind of pub/sub there is.
func (l *Listener) Decided() bool { return l.pubsub.Load() != unknownPubSub }

// Decide finds out what kind of pub/sub there is. A store has to do so before it makes the first
// request that waits: the scripts could not publish in a way that the server does not know.
func (l *Listener) Decide(ctx context.Context) error {
	kind, err := l.ask(ctx)
	if err != nil {
		return err
	}
	l.pubsub.Store(kind)
	return nil
}

// probe is how long each node of a cluster has to answer; one that hangs must not hold up the
// others.
const probe = time.Second

// ask asks the primaries of a cluster what kind of pub/sub they all have. One answer is enough: the
// tree in question may be there.
func (l *Listener) ask(ctx context.Context) (int32, error) {
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
		case calls.Answered(err):
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
func (l *Listener) locate(ctx context.Context, channel string) (string, subscriber, error) {
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

// Relocate has the client of a cluster find out anew which node has which slots.
func (l *Listener) Relocate(ctx context.Context) {
	if cluster, ok := l.client.(*redis.ClusterClient); ok && ctx.Err() == nil {
		cluster.ReloadState(ctx)
	}
}
