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
	// Resolvers are those for ids of other kinds than the resolver given to
	// [New] understands, by the kind that [lockspec.Source.Kind] names.
	Resolvers map[string]pathlock.Resolver

	// Authorize says whether the request may do what it asks for. It is called when the nodes have
	// been found that the request names, before anything is locked or waited for, and again where a
	// node turns out to be elsewhere. nodes are those of the spec's ids; it is not asked about
	// names. An error, such as [NewProblem] of 403, is what the request is answered with; it may
	// also answer the request itself and abort it.
	//
	// Without it, whoever reaches the route learns which ids exist (404), what they collide with
	// (423, 409), and can keep others waiting before the handler refuses. An id that does not exist
	// is answered before Authorize is asked: authentication belongs into middleware before this
	// one.
	Authorize func(c *gin.Context, nodes []lockspec.Node) error

	// Token returns the token of a detached hold that the request carries (see
	// [pathlock.Lock.Detach]), "" if it carries none. The default is [HeaderToken]; [NoToken] has
	// requests carry none.
	//
	// A request that locks in the token's tree does so as the hold's owner: what the hold keeps
	// others from, its holder's requests pass. The hold stays, with the end that it has. A text
	// that is no token is answered with 400, a token whose hold has ended, also while the request
	// is on its way, with 409 (lock-lost). A token of another tree is left alone. A token is no
	// authorization: see Authorize. Routes whose spec is [lockspec.None] don't look at tokens.
	Token func(r *http.Request) pathlock.Token

	// Redact takes out of a refusal what the client is not to see: the path, the holder, and what
	// the detail says about them. [Locks.Fail] calls it with a copy of each problem before it is
	// written.
	Redact func(c *gin.Context, p *Problem)

	// Wait is how long a request waits for others at most, in all the trees that it needs and all
	// tries taken together; 0 is the locker's default, [pathlock.NoWait] is not at all.
	Wait time.Duration

	// MaxHold is how long a request may hold its locks. Then they are let go, and the context that
	// the handler runs under ends with the cause [ErrHeldTooLong]: a transaction of package
	// gormplugin is rolled back. So a client that reads its response or sends its body slowly, or a
	// handler that hangs, does not keep a tree locked. 0 is [DefaultMaxHold]; a negative value is
	// no limit, for routes that stream under their locks.
	MaxHold time.Duration

	// BodyTimeout is how long the body may take to arrive that is read before the locks are taken;
	// then the request is answered with 408. It needs a connection whose reads can be given a
	// deadline, as those of net/http's server can, and is not used where that server has a
	// ReadTimeout, which does the same. 0 is [DefaultBodyTimeout]; a negative value leaves the body
	// unread until a source of the spec or the handler reads it, which may keep a tree locked for
	// as long as that takes.
	BodyTimeout time.Duration

	// Lease is the lease of the locks, which are renewed while the handler
	// runs; 0 is the locker's default.
	Lease time.Duration

	// Retry says how often a request tries again whose nodes' paths keep changing: when it returns
	// 0, the request is answered with 409. A new try asks for its locks under those that are held,
	// and so keeps its turn; the pauses are for tries that have to let go of everything first. It
	// is called once per request that has to try again, since strategies have state. The default
	// pauses five times, for 4, 8, 16, 32 and 64 milliseconds.
	Retry func() redislock.RetryStrategy

	// MaxBody is the number of bytes of a body that are read before the locks are taken. A longer
	// body is answered with 413 where the spec needs a value of it; otherwise the handler reads the
	// rest itself. 0 is [DefaultMaxBody].
	MaxBody int64

	// JSONTypes are the content types, beside application/json, of bodies that the handlers read as
	// JSON, in lower case: "application/merge-patch+json". They do so by
	// [gin.Context.ShouldBindJSON] or a decoder of their own: [gin.Context.ShouldBind] takes such a
	// body for a form. Where a spec needs a value of the body, other types than these are answered
	// with 415.
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
