package contender

import (
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// Client returns a client with the options that all contenders on go-redis share.
func (s Server) Client() (*redis.Client, error) {
	o, err := redis.ParseURL(s.URL)
	if err != nil {
		return nil, fmt.Errorf("not the URL of a Redis: %w", err)
	}
	o.ContextTimeoutEnabled = true
	return redis.NewClient(o), nil
}

// key returns the name of a node's key, for contenders with a key for each node.
func (s Server) key(tree string, node pathlock.Path) string {
	return s.Prefix + ":{" + tree + "}" + node.String()
}

// keys returns the names of the keys of a leaf and of all nodes above it, the root first.
func (s Server) keys(tree string, leaf pathlock.Path) []string {
	var keys []string
	for a := range leaf.Ancestors() {
		keys = append(keys, s.key(tree, a))
	}
	return append(keys, s.key(tree, leaf))
}

// redisLocks is an open contender that needs only a client.
type redisLocks struct {
	client *redis.Client
	lock   func(client *redis.Client, tree string, leaf pathlock.Path) Lock
}

// openRedis connects a contender. lock makes its locks.
func openRedis(at Server, lock func(client *redis.Client, tree string, leaf pathlock.Path) Lock) (Locks, error) {
	client, err := at.Client()
	if err != nil {
		return nil, err
	}
	return &redisLocks{client, lock}, nil
}

func (l *redisLocks) Lock(tree string, leaf pathlock.Path) (Lock, error) {
	return l.lock(l.client, tree, leaf), nil
}

func (l *redisLocks) Close() error { return l.client.Close() }
