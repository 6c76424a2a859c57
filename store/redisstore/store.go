package redisstore

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// Store is a [pathlock.Store] in Redis. Make one per process with [New] or [Open], and
// [Store.Close] it in the end.
type Store struct {
	client redis.UniversalClient
	runner runner
	config config
	// punctual is what [punctual] says of client.
	punctual bool
	keys     keys
	scripts  scripts
	listener *listener
	// takeBacks are under way.
	takeBacks takeBacks
	// own is the client that Close closes; nil if the caller does.
	own io.Closer

	// closing is closed by Close: nobody waits from then on.
	closing chan struct{}
	// mu guards closed, so that no command begins after Close has begun to wait for commands.
	mu       sync.Mutex
	closed   bool
	commands sync.WaitGroup
}

var _ pathlock.TransferStore = (*Store)(nil)

// New returns a store that keeps its locks in the Redis that client talks to: a single node, a
// primary under Sentinel, or a Cluster. Stores on one Redis with one prefix see each other's
// locks. The client remains the caller's. Make it with ContextTimeoutEnabled, as [Open] does: a client that
// does not heed the deadlines of contexts has to be waited for on another goroutine, which costs time.
func New(client redis.UniversalClient, opts ...Option) *Store {
	c := newConfig(opts)
	k := newKeys(c.prefix)
	s := &Store{
		client:   client,
		runner:   runner{client, client.Process},
		punctual: punctual(client),
		config:   c,
		keys:     k,
		scripts:  newScripts(),
		listener: newListener(client, k, rand.Text(), c.linger),
		closing:  make(chan struct{}),
	}
	s.takeBacks.store = s
	if single, ok := client.(*redis.Client); ok {
		s.runner.process = (&pipeline{client: single, timeout: c.timeout}).process
	}
	return s
}

// Close ends the waits that are under way with an error that matches
// [pathlock.ErrUnavailable], waits for the commands that are under way, ends the
// subscription, and closes the client if [Open] made it. Locks are not released: that is their
// holders' business, and their leases'. Close may be called again.
func (s *Store) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		close(s.closing)
	}
	s.commands.Wait()
	s.listener.close()
	if first && s.own != nil {
		if err := s.own.Close(); err != nil {
			return fmt.Errorf("redisstore: closing the client: %w", err)
		}
	}
	return nil
}

// GateKey is the function [GateKey] for this store's prefix.
func (s *Store) GateKey(tree pathlock.Tree) string { return s.keys.gate(tree) }

// Ping implements [pathlock.Store]. It asks for a write that changes nothing, so that a
// replica, and a server that cannot save its data, are not taken for one that can serve.
func (s *Store) Ping(ctx context.Context) error {
	_, err := call(ctx, s, operation{verb: "ping"}, func(ctx context.Context) (int64, error) {
		return s.client.Del(ctx, s.keys.prefix+":ping").Result()
	}, nil)
	return err
}
