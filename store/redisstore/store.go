package redisstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// store is a [pathlock.Store] in Redis.
type store struct {
	client   redis.UniversalClient
	config   config
	keys     keys
	scripts  scripts
	calls    *caller
	listener *listener
	// own is the client that Close closes; nil if the caller does.
	own io.Closer
}

var _ pathlock.Store = (*store)(nil)

// New returns a store that keeps its locks in the Redis that client talks to: a single node, a
// primary under Sentinel, or a Cluster. Stores on one Redis with one prefix see each other's locks.
// Make one store per process, and close it at the end, before the client, which remains the
// caller's.
//
// Calls end in time with any client. One without ContextTimeoutEnabled, which [Open] sets, does not
// heed the deadlines of contexts: it needs a goroutine for each command, which costs a tenth more,
// and keeps connections and goroutines of a silent server for longer. In a Cluster, set
// MaxRedirects to 16, so that calls outlast the move of a slot. For a primary under Sentinel use
// Open: a client of redis.NewFailoverClient does not notice a failover while the one sentinel that
// it listens to hangs.
//
// Neither a redis.Ring, which moves trees to other shards whenever a shard is added or seems to be
// down, nor a redis.AutoPipeliner can serve: all calls fail with an error that matches
// [errors.ErrUnsupported] and [pathlock.ErrUnavailable]. A client of your own must embed the
// pointer to go-redis's, not the interface, or the store does not recognise a Cluster.
func New(client redis.UniversalClient, opts ...Option) pathlock.Store { return onClient(client, opts) }

func onClient(client redis.UniversalClient, opts []Option) *store {
	c, id := newConfig(opts), rand.Text()
	k := newKeys(c.prefix)
	s := &store{
		client:   client,
		config:   c,
		keys:     k,
		scripts:  allScripts(),
		listener: newListener(client, k.channel(id)),
	}
	s.calls = newCaller(c.timeout, refusalOf(client), s.relocate, s.withdraw)
	s.calls.punctual = isPunctual(client)
	return s
}

// isPunctual reports whether a client gives its connections the deadlines of contexts.
func isPunctual(client redis.UniversalClient) bool {
	switch c := client.(type) {
	case interface{ Options() *redis.Options }:
		return c.Options().ContextTimeoutEnabled
	case interface{ Options() *redis.ClusterOptions }:
		return c.Options().ContextTimeoutEnabled
	default:
		return false
	}
}

// relocate makes the client look up again which node has which keys, since the node that it knows
// may be down. By itself, a cluster's client does so once a minute.
func (s *store) relocate(ctx context.Context) {
	s.listener.relocate(ctx)
	if c, ok := s.own.(sentinelClient); ok {
		_, _ = c.sentinels.look(ctx) // the next connection will look again
	}
}

// clusterClient is a redis.ClusterClient, or embeds one.
type clusterClient interface {
	ReloadState(ctx context.Context)
	ForEachMaster(ctx context.Context, do func(context.Context, *redis.Client) error) error
}

// refusalOf returns why a client cannot serve, nil if it can.
func refusalOf(client redis.UniversalClient) error {
	switch client.(type) {
	case interface{ SetAddrs(addrs map[string]string) }: // it is a redis.Ring, or embeds one
		return fmt.Errorf("%w: a redis.Ring moves trees between its shards and forgets their locks; use a Cluster", errors.ErrUnsupported)
	case *redis.AutoPipeliner:
		return fmt.Errorf("%w: a redis.AutoPipeliner does not reveal how often it sends a command; use its client", errors.ErrUnsupported)
	default:
		return nil
	}
}

// Close releases no locks: that is up to their holders, and their leases. It
//
//   - ends the waits that are under way, with an error that matches [pathlock.ErrUnavailable],
//   - withdraws the requests that failed calls have left behind, all at once, and tries that once,
//   - waits for the commands that are under way,
//   - ends the subscriptions, and closes the client if [Open] made it.
//
// If ctx ends first, the error matches ctx's error. What has not been withdrawn by then is left to
// the leases, and goroutines that are still under way end within the time of [WithTimeout]. Close
// may be called again.
func (s *store) Close(ctx context.Context) error {
	first := s.calls.close()
	over := make(chan struct{})
	go func() {
		s.calls.commands.Wait()
		_ = s.calls.takeBacks.Await(context.Background())
		s.listener.close()
		close(over)
	}()
	var err error
	select {
	case <-over:
	case <-ctx.Done():
		err = fmt.Errorf("redisstore: closing the store: %w", ctx.Err())
	}
	if first && s.own != nil {
		if failed := s.own.Close(); failed != nil {
			err = errors.Join(err, fmt.Errorf("redisstore: closing the client: %w", failed))
		}
	}
	return err
}

// Local implements [pathlock.Store].
func (s *store) Local() bool { return false }

// Ping implements [pathlock.Store]. It runs a script that asks for a write that changes nothing,
// and sends an empty message. So it fails on a replica, on a server that cannot save its data,
// where scripts do not run, and for a user without the right to the channels.
func (s *store) Ping(ctx context.Context) error {
	_, err := do(ctx, s.calls, operation{Verb: "ping", Looks: true}, func(ctx context.Context) (any, error) {
		return pinging.Run(ctx, s.client, []string{s.keys.prefix + ":ping"}, s.listener.channel).Result()
	})
	return err
}

var pinging = redis.NewScript("redis.call('PUBLISH', ARGV[1], '') return redis.call('DEL', KEYS[1])")

// Client returns the client that the store works with, for what only Redis can tell, such as its
// settings. It ends with the store if [Open] made it.
func (s *store) Client() redis.UniversalClient { return s.client }

// defaultMaxWaiters is the default of [WithMaxWaiters].
const defaultMaxWaiters = 2_000

// Option is a setting of [New] and [Open].
type Option func(*config)

type config struct {
	prefix  string
	timeout time.Duration
	// maxClaims and maxWaiters are the limits of a request and of a tree's queue.
	maxClaims, maxWaiters int
}

func newConfig(opts []Option) config {
	c := config{
		prefix: defaultPrefix, timeout: 3 * time.Second,
		maxClaims: 300, maxWaiters: defaultMaxWaiters,
	}
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// WithPrefix sets what the names of all keys begin with: stores with different prefixes know
// nothing of each other's locks, and [GateKey] names their gates by this option. Any
// text will do; it is escaped as the trees' names are. Defaults to pathlock.
func WithPrefix(prefix string) Option { return func(c *config) { c.prefix = prefix } }

// WithTimeout sets how long Redis has to answer a call. A call ends at the latest its wait plus
// the time-out after it began; a Snapshot or Trees of many pages has it for each. The context's
// deadline bounds it too. Values that are not positive are ignored. Defaults to 3 seconds.
func WithTimeout(d time.Duration) Option {
	return func(c *config) { c.timeout = cmp.Or(max(d, 0), c.timeout) }
}

// WithMaxClaims sets how many nodes a request may claim, intentions included. One that claims more
// is refused with an error that matches [pathlock.ErrInvalidRequest]: claim an ancestor, or the
// gate, in its place. A script that grants 300 keeps the server from its other work for about a
// millisecond. Values that are not positive are ignored. Defaults to 300.
func WithMaxClaims(n int) Option {
	return func(c *config) { c.maxClaims = cmp.Or(max(n, 0), c.maxClaims) }
}

// WithMaxWaiters sets how many requests may wait in one tree. Each takes some 150 bytes of the
// server's memory for every node that it claims. A request too many gets a conflict at once, which
// also matches [pathlock.ErrQueueFull]. Values that are not positive are ignored. Defaults to
// 2,000.
func WithMaxWaiters(n int) Option {
	return func(c *config) { c.maxWaiters = cmp.Or(max(n, 0), c.maxWaiters) }
}
