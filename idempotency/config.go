package idempotency

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/web"
	"github.com/pathlock-go/pathlock/middleware"
)

// Header is the header of a request that has the key, and ReplayedHeader is "true" in an answer
// that was recorded before.
const (
	Header         = "Idempotency-Key"
	ReplayedHeader = "Idempotency-Replayed"
)

// The defaults of [Config].
const (
	defaultWait      = 5 * time.Second
	defaultLease     = time.Minute
	defaultKeep      = 24 * time.Hour
	defaultMaxAnswer = 256 << 10
)

// Config is how keys are handled. Scope is required for requests.
type Config struct {
	// Scope returns who sends a request, such as the id of the user. Keys of different scopes are
	// independent: nobody gets somebody else's answer. A request with a key whose scope is empty is
	// answered with 500, and does nothing: nobody has authenticated it, and others may have sent
	// its key. [OneScope] is for services whose callers may see everything that any of them was
	// answered. Without a Scope, keys are for [Once] alone, and Handle answers every request with
	// 500.
	Scope func(c *gin.Context) string
	// Required refuses requests without a key. By default they run as if Handle were not there.
	Required bool
	// Wait is how long a repetition waits for the answer of a request that is running. With
	// [pathlock.NoWait], it is refused at once. Defaults to five seconds.
	Wait time.Duration
	// Lease is how long a request may take. After that, a repetition may take its place, and then
	// the request can no longer commit anything. Defaults to a minute.
	Lease time.Duration
	// Keep is how long an answer is kept. Tell your clients, because after that the key counts as
	// new. Defaults to a day.
	Keep time.Duration
	// MaxBody is the largest body of a request with a key, in bytes. Defaults to 1 MiB.
	MaxBody int64
	// BodyTimeout is how long the body of a request with a key may take to arrive, as
	// [middleware.Config.BodyTimeout] is for the locks. There is no bound if it is negative. After
	// that the request is answered with 408, and its key is free. Defaults to ten seconds.
	BodyTimeout time.Duration
	// MaxAnswer is the largest body that is recorded, in bytes. Defaults to 256 KiB.
	MaxAnswer int
	// Headers are those of an answer that are recorded beside Content-Type, Content-Encoding,
	// Content-Language, Content-Location, ETag, Last-Modified, Link and Location. Set-Cookie is
	// never recorded.
	Headers []string
	// Records reports whether an answer with a status is recorded. By default these are: successes,
	// redirections, and refusals that the same request would get again. These are not:
	//
	//   - 5xx: something failed, and the repetition may succeed;
	//   - 408, 409, 412, 421, 423, 425, 429 and the like, which depend on other requests;
	//   - 206, 401, 403, 406, 407, 411, 415-417, 426, 428 and 431, which depend on what is not part
	//     of the request's fingerprint.
	//
	// With these, usually nothing was committed, and a repetition runs. If something was, a
	// repetition gets 409.
	Records func(status int) bool
	// Table is the table of keys. Defaults to pathlock_idempotency.
	Table string
	// Fail answers a refused request. Defaults to [middleware.WriteProblem].
	Fail func(c *gin.Context, p *middleware.Problem)
	// Log gets what could not be recorded. Defaults to [slog.Default].
	Log *slog.Logger
}

// OneScope is a [Config.Scope] for services whose callers may see everything.
func OneScope(*gin.Context) string { return "*" }

// Keys handles the keys of requests, and of what [Once] does. Make it with [New].
type Keys struct {
	config  Config
	db      *gorm.DB
	pool    *sql.DB
	dialect *dialect.Dialect
	sql     statements
	headers []string
}

// New returns what handles keys in a table of a database, which should be that of the effects. For
// requests, and so with a [Config.Scope], db has to use the plugin of package gormplugin, which
// need not guard any table.
func New(db *gorm.DB, config Config) (*Keys, error) {
	if _, ok := db.Plugins[(*gormplugin.Plugin)(nil).Name()].(*gormplugin.Plugin); !ok && config.Scope != nil {
		return nil, errors.New("idempotency: the DB does not use gormplugin: call db.Use first")
	}
	d, err := dialect.Of(dialect.Name(db.Name()))
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	pool, err := db.DB()
	if err != nil {
		return nil, fmt.Errorf("idempotency: %w", err)
	}
	config.Wait = cmp.Or(config.Wait, defaultWait)
	config.Lease = cmp.Or(config.Lease, defaultLease)
	config.Keep = cmp.Or(config.Keep, defaultKeep)
	config.MaxBody = cmp.Or(config.MaxBody, web.DefaultMaxBody)
	config.BodyTimeout = cmp.Or(config.BodyTimeout, web.DefaultBodyTimeout)
	config.MaxAnswer = cmp.Or(config.MaxAnswer, defaultMaxAnswer)
	config.Table = cmp.Or(config.Table, defaultTable)
	config.Log = cmp.Or(config.Log, slog.Default())
	if config.Lease < time.Second || config.Keep < config.Lease || config.MaxBody < 0 || config.MaxAnswer < 0 {
		return nil, fmt.Errorf("idempotency: Lease (%v) must be at least a second, Keep (%v) no shorter, and MaxBody (%d) and MaxAnswer (%d) not negative", config.Lease, config.Keep, config.MaxBody, config.MaxAnswer)
	}
	if config.Records == nil {
		config.Records = recordsStatus
	}
	if config.Fail == nil {
		config.Fail = middleware.WriteProblem
	}
	sql, err := newStatements(d, config.Table)
	if err != nil {
		return nil, err
	}
	headers := []string{"Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Etag", "Last-Modified", "Link", "Location"}
	for _, h := range config.Headers {
		if h = http.CanonicalHeaderKey(h); h != "Set-Cookie" && !slices.Contains(headers, h) {
			headers = append(headers, h)
		}
	}
	return &Keys{config: config, db: db, pool: pool, dialect: d, sql: sql, headers: headers}, nil
}

// recordsStatus is the default of [Config.Records].
func recordsStatus(status int) bool {
	switch status {
	case http.StatusPartialContent, http.StatusNotAcceptable, http.StatusLengthRequired, http.StatusUnsupportedMediaType,
		http.StatusRequestedRangeNotSatisfiable, http.StatusExpectationFailed, http.StatusRequestHeaderFieldsTooLarge,
		http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusConflict,
		http.StatusPreconditionFailed, http.StatusMisdirectedRequest, http.StatusLocked, http.StatusFailedDependency, http.StatusTooEarly,
		http.StatusUpgradeRequired, http.StatusPreconditionRequired, http.StatusTooManyRequests, middleware.StatusClientGone:
		return false
	}
	return status >= http.StatusOK && status < http.StatusInternalServerError
}
