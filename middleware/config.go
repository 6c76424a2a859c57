package middleware

import (
	"log/slog"
	"time"

	"github.com/bsm/redislock"
	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
)

// Defaults of [Config].
const (
	// DefaultMaxBody is 1 MiB.
	DefaultMaxBody = 1 << 20
	// DefaultRetryAfter is a second.
	DefaultRetryAfter = time.Second
)

// Config says how locks are taken. The zero Config is a usable one.
type Config struct {
	// Resolvers are those for ids of other kinds than the resolver given to
	// [New] understands, by the kind that [lockspec.Source.Kind] names.
	Resolvers map[string]pathlock.Resolver

	// Wait is how long a request waits for others at most; 0 is the locker's
	// default, [pathlock.NoWait] is not at all.
	Wait time.Duration

	// Lease is the lease of the locks, which are renewed while the handler
	// runs; 0 is the locker's default.
	Lease time.Duration

	// Asserted says that whatever the handlers write to the nodes that their specs name is asserted in the database
	// transaction, as package gormplugin does. The middleware then resolves the ids of a request once, and again only
	// if it had to wait for a lock, instead of always: one query less for each.
	//
	// What is given up is that the nodes are known to be where they are locked when the handler begins. One that moved
	// between the look and the lock is noticed by the plugin, which takes the locks that are missing or fails with
	// [pathlock.ErrPathChanged] (409), and not by the middleware, which would have started over. So it must not be set for
	// handlers that write by raw SQL without gormplugin.Assert, or that rely on what they read under the lock, as
	// a consistent export does: those have a [Locks] of their own, from another call of [New] with the same locker.
	Asserted bool

	// Retry returns the pauses between the attempts of one request to lock
	// nodes whose paths keep changing; when it says 0, the request is answered with 409.
	// It is called once per request that has to try again, since strategies have state. The default
	// pauses five times, for 4, 8, 16, 32 and 64 milliseconds.
	Retry func() redislock.RetryStrategy

	// MaxBody is the number of bytes of a body that are read to find a value
	// in it; a longer body is answered with 413. 0 is [DefaultMaxBody]. A body that no
	// value is needed of is not read, and not limited.
	MaxBody int64

	// JSONTypes are the content types, beside application/json, of bodies that the handlers read as
	// JSON, in lower case: "application/merge-patch+json". They do so by [gin.Context.ShouldBindJSON]
	// or a decoder of their own: [gin.Context.ShouldBind] takes such a body for a form. Where a spec
	// needs a value of the body, other types than these are answered with 415.
	JSONTypes []string

	// RetryAfter is what a request that was refused for the time being is told to wait;
	// it is sent in whole seconds, rounded up. 0 is [DefaultRetryAfter].
	RetryAfter time.Duration

	// OnError answers a request that failed. The default is [Locks.Fail]. The
	// request has been aborted before it is called.
	OnError func(c *gin.Context, err error)

	// Log is told of the requests that [Locks.Fail] answers 500 or 503, and of clients that went
	// away. The default is [slog.Default].
	Log *slog.Logger
}

// defaultRetry is five pauses that double from 4 ms.
func defaultRetry() redislock.RetryStrategy {
	return redislock.LimitRetry(redislock.ExponentialBackoff(4*time.Millisecond, 64*time.Millisecond), 5)
}
