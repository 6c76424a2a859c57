package simulation

import (
	"context"
	"math/rand/v2"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/proof/simredis"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// server is what the instances of a world share.
type server interface {
	// open returns a store that reaches the server over a network, and what ends its client.
	open(n *network) (store pathlock.Store, end func())
	// forget has the server forget everything, and remember returns what makes it what it is now.
	forget()
	remember() (again func())
	// left returns what there is besides fences.
	left() []string
	// granted returns when a fence was given out, by the server's clock.
	granted(tree pathlock.Tree, fence uint64) time.Time
}

// redisServer is a Redis with the scripts of package redisstore.
type redisServer struct{ *simredis.Server }

func (s redisServer) open(n *network) (pathlock.Store, func()) {
	n.serve = s.Serve
	client := redis.NewClient(&redis.Options{
		Dialer: func(context.Context, string, string) (net.Conn, error) { return n.dial() },
		Addr:   address.String(), DialTimeout: time.Second, DialerRetries: 1, ContextTimeoutEnabled: true, PoolSize: 100,
	})
	return redisstore.New(client), func() { _ = client.Close() }
}

func (s redisServer) forget() {
	s.ForgetScripts()
	s.Restore(nil)
}

func (s redisServer) remember() func() {
	image := s.Image()
	return func() { s.Restore(image) }
}

func (s redisServer) left() []string { return s.Keys() }

// granted: a fence is a time in microseconds.
func (s redisServer) granted(_ pathlock.Tree, fence uint64) time.Time {
	return time.UnixMicro(int64(fence) + 1)
}

// nearby is a network without faults, over which the oracle asks.
func nearby() *network { return &network{random: rand.New(rand.NewPCG(0, 0)), delay: 10} }
