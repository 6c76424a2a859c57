package middleware

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/bsm/redislock"
	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// Defaults of [Config].
const (
	// DefaultMaxBody is 1 MiB.
	DefaultMaxBody = 1 << 20
	// DefaultRetryAfter is a second.
	DefaultRetryAfter = time.Second
	// DefaultBodyTimeout is ten seconds.
	DefaultBodyTimeout = 10 * time.Second
	// DefaultMaxHold is a minute.
	DefaultMaxHold = time.Minute
)

// Config says how locks are taken. The zero Config is a usable one.
type Config struct {
	// Resolvers find nodes of other kinds than the resolver given to [New] does, by the kind that
	// [lockspec.Source.Kind] names.
	Resolvers map[string]pathlock.Resolver

	// Authorize decides whether the request may do what it asks for. It is called once the nodes
	// that the request names are found, before anything is locked or waited for, and again if a
	// node turns out to be elsewhere. nodes are those of the spec's ids; names are not among them.
	// The request is answered with the error, such as [NewProblem] of 403. Authorize may also
	// answer the request itself and abort it.
	//
	// Without it, anybody who reaches the route learns which ids exist (404) and what they collide
	// with (423, 409), and can keep others waiting before the handler refuses. An id that does not
	// exist is answered before Authorize is called: authentication belongs in middleware before
	// this one.
	Authorize func(c *gin.Context, nodes []lockspec.Node) error

	// Token returns the token of a detached hold that the request carries (see
	// [pathlock.Lock.Detach]), "" if it carries none. The default is [HeaderToken]; with [NoToken]
	// requests carry none.
	//
	// A request that locks in the token's tree does so as the hold's owner, so that the holder's
	// requests pass. The hold stays and ends when it would have. A malformed token is answered with
	// 400. A token whose hold has ended, before the request or during it, is answered with 409
	// (lock-lost). A token of another tree is ignored, and so is any token where the spec is
	// [lockspec.None]. A token is no authorization: see Authorize.
	Token func(r *http.Request) pathlock.Token

	// Redact removes from a refusal what the client must not see: the path, the holder, and what
	// the detail says about them. [Locks.Fail] calls it with a copy of each problem before it
	// writes that.
	Redact func(c *gin.Context, p *Problem)

	// Wait is how long a request waits for others at most, in all the trees that it needs and all
	// tries taken together; 0 is the locker's default, [pathlock.NoWait] is not at all.
	Wait time.Duration

	// MaxHold is how long a request may hold its locks. Then they are released, and the handler's
	// context ends with the cause [ErrHeldTooLong]: a transaction of package gormplugin is rolled
	// back. So neither a slow client nor a handler that hangs keeps a tree locked. 0 is
	// [DefaultMaxHold]; a negative value is no limit, for routes that stream under their locks.
	MaxHold time.Duration

	// BodyTimeout is how long the body may take to arrive, which is read before the locks are
	// taken. After it the request is answered with 408. It needs a connection that takes read
	// deadlines, as those of net/http's server do. If that server has a ReadTimeout, which does the
	// same, BodyTimeout is not used. 0 is [DefaultBodyTimeout]. With a negative value the body
	// stays unread until a source of the spec or the handler reads it, and the tree may stay locked
	// for as long as that takes.
	BodyTimeout time.Duration

	// Lease is the lease of the locks, which are renewed while the handler runs; 0 is the locker's
	// default.
	Lease time.Duration

	// Retry returns how often a request tries again whose nodes keep moving: when the strategy
	// returns 0, the request is answered with 409. A new try asks for its locks under those that
	// are held, and so keeps its turn; the pauses are for tries that have to release everything
	// first. It is called once per request that tries again, since strategies have state. The
	// default pauses five times, for 4, 8, 16, 32 and 64 milliseconds.
	Retry func() redislock.RetryStrategy

	// MaxBody is how many bytes of a body are read before the locks are taken. If the spec needs a
	// value of a longer body, the request is answered with 413; otherwise the handler reads the
	// rest. 0 is [DefaultMaxBody].
	MaxBody int64

	// JSONTypes are further content types, beside application/json, that the handlers read as JSON,
	// in lower case: "application/merge-patch+json". Such handlers use
	// [gin.Context.ShouldBindJSON] or a decoder of their own, since [gin.Context.ShouldBind] takes
	// such a body for a form. If a spec needs a value of the body, other types are answered with
	// 415.
	JSONTypes []string

	// RetryAfter is how long a client is asked to wait whose request was refused for the time
	// being. It is sent in whole seconds, rounded up. 0 is [DefaultRetryAfter].
	RetryAfter time.Duration

	// OnError answers a request that failed, and has been aborted. The default is [Locks.Fail].
	OnError func(c *gin.Context, err error)

	// Log gets the requests that [Locks.Fail] answers with 500 or 503, and the clients that went
	// away. The default is [slog.Default].
	Log *slog.Logger
}

// defaultRetry is five pauses that double from 4 ms.
func defaultRetry() redislock.RetryStrategy {
	return redislock.LimitRetry(redislock.ExponentialBackoff(4*time.Millisecond, 64*time.Millisecond), 5)
}
