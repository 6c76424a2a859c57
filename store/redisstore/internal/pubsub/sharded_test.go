package pubsub

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// TestChannels: one channel serves all trees, but where messages are sharded each tree has one with
// its hash tag.
func TestChannels(t *testing.T) {
	tree := func(id string) pathlock.Tree {
		tree, err := pathlock.NewTree("testplan", id)
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer func() { _ = cluster.Close() }()
	single := redis.NewClient(&redis.Options{})
	defer func() { _ = single.Close() }()
	for _, tt := range []struct {
		name   string
		client redis.UniversalClient
		pubsub int32 // what a cluster is found to have
		want   string
	}{
		{"a single node", single, unknownPubSub, "all"},
		{"a cluster before Redis 7", cluster, plainPubSub, "all"},
		{"a cluster", cluster, shardedPubSub, "{plan}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := New(tt.client, Channels{All: "all", Tree: func(tree pathlock.Tree) string { return "{" + tree.ID() + "}" }}, 0)
			if tt.pubsub != unknownPubSub {
				l.pubsub.Store(tt.pubsub)
			}
			got := l.Channel(tree("plan"))
			if got != tt.want {
				t.Errorf("the channel is %s, want %s", got, tt.want)
			}
			if isSharded(got) != strings.Contains(tt.want, "{") {
				t.Errorf("isSharded(%s) is %v", got, isSharded(got))
			}
			if _, sharded := l.client.(*redis.ClusterClient); sharded && tt.pubsub == shardedPubSub && l.Channel(tree("other")) == got {
				t.Error("two trees have one channel")
			}
		})
	}
}
