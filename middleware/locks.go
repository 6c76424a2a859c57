package middleware

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/lockspec"
)

// Locks makes middleware that takes locks. Make one with [New] and use it for all routes.
type Locks struct {
	locker    *pathlock.Locker
	resolvers map[string]pathlock.Resolver // by kind
	config    Config
	// prepared are the resolvers that keep what they read for the handlers.
	prepared []preparer
	// wait bounds the waiting of a request.
	wait time.Duration
	// explainers are the resolvers that know errors which state no failure.
	explainers []pathlock.FailureExplainer
	// wrong is what no route can work with, nil if nothing is.
	wrong error
}

// preparer is a resolver that can keep what it reads, so that a write later in the same request
// need not read it again.
type preparer interface {
	// Prepare returns a context under which Resolve keeps what it reads. A write under a context
	// derived from it takes what was kept.
	Prepare(ctx context.Context) context.Context
}

// errTwoLockers refuses a plugin whose writes would wait for their own request.
var errTwoLockers = errors.New("middleware: the plugin of a resolver has another locker: use one for both")

// New returns middleware that takes locks from locker. It finds nodes by resolver, or by
// [Config.Resolvers] if a spec names a kind. The resolver may be nil if every id of every spec has
// a kind.
//
// A [pathlock.BatchResolver] is asked for all ids of its kind in a request at once.
func New(locker *pathlock.Locker, resolver pathlock.Resolver, config Config) *Locks {
	m := &Locks{locker: locker, config: config, resolvers: make(map[string]pathlock.Resolver)}
	if resolver != nil {
		m.resolvers[""] = resolver
	}
	maps.Copy(m.resolvers, config.Resolvers)
	for _, r := range m.resolvers {
		if r, ok := r.(preparer); ok {
			m.prepared = append(m.prepared, r)
		}
		if r, ok := r.(pathlock.FailureExplainer); ok {
			m.explainers = append(m.explainers, r)
		}
		if r, ok := r.(interface{ LocksBy(*pathlock.Locker) bool }); ok && !r.LocksBy(locker) {
			m.wrong = errTwoLockers
		}
	}
	if config.Lease != 0 && config.Lease < pathlock.MinLease || config.MaxBody < 0 || config.Wait < 0 && config.Wait != pathlock.NoWait {
		m.wrong = fmt.Errorf("middleware: Config.Lease (%v) must be at least %v, MaxBody (%d) not negative, and Wait (%v) not negative, or NoWait", config.Lease, pathlock.MinLease, config.MaxBody, config.Wait)
	}
	m.wrong = cmp.Or(m.wrong, locker.Check())
	m.wait = cmp.Or(config.Wait, locker.Wait())
	m.config.MaxBody = cmp.Or(config.MaxBody, web.DefaultMaxBody)
	m.config.RetryAfter = cmp.Or(config.RetryAfter, defaultRetryAfter)
	m.config.MaxHold = cmp.Or(config.MaxHold, defaultMaxHold)
	m.config.BodyTimeout = cmp.Or(config.BodyTimeout, web.DefaultBodyTimeout)
	m.config.Log = cmp.Or(config.Log, slog.Default())
	if m.config.Retry == nil {
		m.config.Retry = defaultRetry
	}
	if m.config.Token == nil {
		m.config.Token = HeaderToken
	}
	if m.config.RequestID == nil {
		m.config.RequestID = headerRequestID
	}
	if m.config.WriteProblem == nil {
		m.config.WriteProblem = WriteProblem
	}
	if m.config.OnError == nil {
		m.config.OnError = func(c *gin.Context, err error) { m.Fail(c, err) }
	}
	return m
}

// Lock returns middleware that locks what the spec says while the handlers after it run. It
// releases the locks when they are done, on panic too. The response does not wait for that: see
// [pathlock.Lock.ReleaseInBackground]. When a program ends, it calls [pathlock.Locker.Shutdown]
// after its server's.
//
// Put it before the handler. If the last handler of a chain calls it as a function, nothing would
// run under the locks: the request is answered with 500, and aborted.
//
// If it is used for a whole engine, it ignores requests that gin has no route for, and locks
// nothing for handlers of [gin.Engine.NoRoute].
//
// Lock panics, as gin's own registration of routes does, on a spec that makes no sense, on an id or
// a kind without a resolver, on settings of the locker or the [Config] that would fail each
// request, and if the plugin of a resolver has another locker. Such a program should not start.
func (m *Locks) Lock(spec lockspec.Spec) gin.HandlerFunc {
	if err := m.check(spec); err != nil {
		panic(err)
	}
	if _, exempt := spec.Exempt(); exempt {
		return func(c *gin.Context) { m.serve(m.withOrigin(c, spec), c, false) } // the handler may lock by itself
	}
	return func(c *gin.Context) { m.runLocked(c, spec) }
}

// check returns why the spec cannot work with these resolvers, nil if it can.
func (m *Locks) check(spec lockspec.Spec) error {
	if err := cmp.Or(m.wrong, spec.Check()); err != nil {
		return err
	}
	for _, src := range spec.Sources() {
		if kind := src.KindName(); kind != "" && m.resolvers[kind] == nil {
			return fmt.Errorf("middleware: there is no resolver for the kind %q of the spec's source %s", kind, src)
		}
	}
	if m.resolvers[""] == nil && findsByDefault(spec) {
		return fmt.Errorf("middleware: there is no resolver for the ids of a spec without a kind: %s", spec.Operation())
	}
	return nil
}

// Table returns middleware for a whole engine or group. For every route of the table it does what
// [Locks.Lock] does with the route's spec. It lets other routes pass. Use it before you register
// the routes, because gin gives a route the middleware that is there at that moment. Table panics
// as Lock does.
func (m *Locks) Table(table lockspec.Table) gin.HandlerFunc {
	routes := make(map[string]gin.HandlerFunc, len(table))
	for route, spec := range table {
		routes[strings.ReplaceAll(route, `\:`, ":")] = m.Lock(spec) // FullPath has no escapes
	}
	return func(c *gin.Context) {
		if lock, ok := routes[c.Request.Method+" "+c.FullPath()]; ok {
			lock(c)
		}
	}
}

// CheckRoutes compares the table with the routes that the engine serves: see
// [lockspec.Table.Check]. Call it when all routes are registered. It does not know which handlers
// a route has: use the table's middleware before the routes are registered, and in their group.
func CheckRoutes(engine *gin.Engine, table lockspec.Table) error {
	var routes []string
	for _, r := range engine.Routes() {
		routes = append(routes, r.Method+" "+r.Path)
	}
	return table.Check(routes)
}

// Defaults of [Config].
const (
	defaultRetryAfter = time.Second
	defaultMaxHold    = time.Minute
)

// degradedHeader is the header of an answer that says "true" if the lock store was away, and the
// request went on without it: see [pathlock.Degrade]. Only requests whose specs are
// [lockspec.Spec.Asserted] do.
const degradedHeader = "Lock-Degraded"

// Config says how locks are taken. The zero Config is usable.
type Config struct {
	// Resolvers find the nodes of ids with a [lockspec.Source.Kind], by that kind.
	Resolvers map[string]pathlock.Resolver

	// Authorize decides whether the request is allowed. It is called when the request's nodes are
	// found, before the request locks or waits for anything, and again if a node turns out to be
	// elsewhere. nodes are the nodes of the spec's ids, without names. The request is answered with
	// Authorize's error, such as a [NewProblem] with 403. Authorize may also answer the request
	// itself, which aborts it. Handlers find values that it sets in c, but none that it puts into
	// the request's context.
	//
	// Without it, any client of the route learns which ids exist (404) and what they collide with
	// (423, 409), and can keep others waiting before the handler refuses. An id that does not exist
	// is answered before Authorize is called, so authentication belongs in earlier middleware.
	Authorize func(c *gin.Context, nodes []lockspec.Node) error

	// Token returns the token of a detached hold that the request carries (see
	// [pathlock.Lock.Detach]), "" if it carries none. The default is [HeaderToken]. With [NoToken],
	// requests carry none.
	//
	// A request that locks in the token's tree does so as the hold's owner, so that the holder's
	// requests pass. The hold stays, and ends when it would have ended anyway. A malformed token is
	// answered with 400. A token whose hold has ended, before the request or during it, is answered
	// with 409 (lock-lost). A token of another tree is ignored, and so is any token if the spec is
	// [lockspec.None]. A token does not authorize: see Authorize.
	Token func(r *http.Request) pathlock.Token

	// RequestID returns the id of a request, as the program's log has it. People who look at the
	// locks see it: see [pathlock.Origin]. The default is the header X-Request-Id of the request,
	// or else that of the response, where middleware that makes ids puts them.
	RequestID func(c *gin.Context) string

	// Redact removes from a refusal what the client must not see: the path, the holder, and what
	// the detail says about them. It may also reword or translate the detail, by [Problem.Slug].
	// [Locks.Fail] calls it with a copy of each problem before writing it.
	Redact func(c *gin.Context, p *Problem)

	// Wait bounds how long a request waits for others, in all its trees and tries together. 0 means
	// the locker's default, and [pathlock.NoWait] no wait.
	Wait time.Duration

	// MaxHold is how long a request may hold its locks. After that, they are released, the
	// handler's context ends with the cause [pathlock.ErrHeldTooLong], and package gormplugin rolls
	// its transaction back. So neither a slow client nor a handler that hangs keeps a tree locked.
	// 0 means a minute, and a negative value no limit, for routes that stream under their locks.
	MaxHold time.Duration

	// BodyTimeout is how long the body, which is read before the locks are taken, may take to
	// arrive. After that, the request is answered with 408. It needs a connection with read
	// deadlines, as net/http's have. If the server has a ReadTimeout, that applies instead. 0 means
	// ten seconds, and a negative value no limit.
	BodyTimeout time.Duration

	// Lease is the lease of the locks, which are renewed while the handler runs. 0 means the
	// locker's default.
	Lease time.Duration

	// Retry returns the strategy for a request whose nodes keep moving. When the strategy returns
	// 0, the request is answered with 409. A new try asks for its locks while it holds the old
	// ones, and so keeps its turn. It pauses only if it must first release everything. Retry is
	// called once for each request that tries again, since strategies have state. The default
	// pauses five times, for 4, 8, 16, 32 and 64 milliseconds.
	Retry func() RetryStrategy

	// MaxBody is how many bytes of a body are read before the locks are taken. A longer body is
	// answered with 413 if the spec needs a value of it. Otherwise the handler reads the rest. 0
	// means 1 MiB.
	MaxBody int64

	// JSONTypes are content types besides application/json that the handlers read as JSON, in lower
	// case: "application/merge-patch+json". Such handlers use [gin.Context.ShouldBindJSON] or a
	// decoder of their own, since [gin.Context.ShouldBind] takes such a body for a form. If a spec
	// needs a value of the body, other types are answered with 415.
	JSONTypes []string

	// RetryAfter is how long a client should wait before it retries after a temporary refusal. It
	// is sent in whole seconds, rounded up. 0 means one second.
	RetryAfter time.Duration

	// OnError answers a request that failed, and has been aborted. The default is [Locks.Fail].
	OnError func(c *gin.Context, err error)

	// WriteProblem writes the answers of [Locks.Fail], for example in the form that a program's
	// clients know. Fail decides, logs and counts, and sets the header Retry-After. The default is
	// [WriteProblem].
	WriteProblem func(c *gin.Context, p *Problem)

	// Log gets the requests that [Locks.Fail] answers with 500 or 503, and the clients that went
	// away. The default is [slog.Default].
	Log *slog.Logger
}

// RetryStrategy says how long to pause before the next try; 0 means that there is none. The
// strategies of bsm/redislock fit.
type RetryStrategy interface{ NextBackoff() time.Duration }

// doubling pauses for its value, and doubles at each pause up to the longest.
type doubling time.Duration

const firstPause, longestPause = 4 * time.Millisecond, 64 * time.Millisecond

// NextBackoff implements [RetryStrategy].
func (d *doubling) NextBackoff() time.Duration {
	pause := time.Duration(*d)
	if *d *= 2; pause > longestPause {
		return 0
	}
	return pause
}

// defaultRetry is the default of [Config.Retry].
func defaultRetry() RetryStrategy { return new(doubling(firstPause)) }
