package admin

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/internal/web"
)

// DefaultPrefix is the path below which the page is mounted.
const DefaultPrefix = "/admin/locks"

// Further defaults of a [Config].
const (
	defaultPoll     = time.Second
	defaultMaxTrees = 100
)

// minPoll protects the lock store from a Poll that was meant as a number of seconds.
const minPoll = 10 * time.Millisecond

// ErrUnauthorized is for authorisation callbacks to return, wrapped or not, if a request names
// nobody. The answer is then 401, and 403 for every other error.
var ErrUnauthorized = errors.New("admin: not signed in")

// ErrConfig is matched by the errors of [New].
var ErrConfig = errors.New("admin: unusable configuration")

// Config says who may use a page, and what it shows. All fields but Authorize are optional.
type Config struct {
	// Authorize returns nil if the request may look at the locks: required. It is called for every
	// request. Its error is logged at debug level, and not shown.
	Authorize func(r *http.Request) error
	// AuthorizeRelease returns who asks, for the log, if the request may take away what others
	// hold. It is called after Authorize, both for a release and when the page asks whether to
	// offer one. If it is nil, the page is read-only.
	AuthorizeRelease func(r *http.Request) (who string, err error)

	// Prefix begins the paths of all requests as the page gets them. If [http.StripPrefix] or a
	// proxy removes the part before the page's own paths, it is "/". All other paths are answered
	// with 404: if a path had two spellings, a proxy's rule for one would miss the other. Defaults
	// to [DefaultPrefix].
	Prefix string
	// Hosts are the names, with or without a port, under which browsers reach the page. Requests
	// with another Host header are refused. If there are none, any name is accepted, except for
	// requests that arrive on a loopback address: there it must be localhost, a name below it, or
	// an IP address. So a foreign page cannot have its own name resolved to 127.0.0.1, and read
	// what listens there. A proxy must pass on the name that the browser asked for.
	Hosts []string

	// Redact returns the text to show instead of a name in a path, or instead of a lock's note.
	// Equal names must give equal texts. An empty text for a name is shown as "…". It is called
	// often and must be fast.
	Redact func(text string, isNote bool) string
	// History has the last waits to show. The page has none if it is nil.
	History contention.Recorder
	// Instance names the process that answers. Defaults to the host's name and the process id, as
	// with [pathlock.WithInstance].
	Instance string
	// Log gets each release as a warning, with who asked for it and why. Defaults to
	// [slog.Default].
	Log *slog.Logger

	// Poll is the pause between two looks at a tree that somebody watches, and how often the page
	// asks. Defaults to a second.
	Poll time.Duration
	// MaxTrees is the most trees whose holders and waiters the overview counts, as far as its time
	// allows. It names ten times as many trees. Defaults to 100.
	MaxTrees int
}

// withDefaults returns the configuration with all fields filled in. Its error matches [ErrConfig].
func (c Config) withDefaults() (Config, error) {
	c.Prefix = strings.TrimSuffix(cmp.Or(c.Prefix, DefaultPrefix), "/")
	c.Poll = cmp.Or(c.Poll, defaultPoll)
	c.MaxTrees = cmp.Or(c.MaxTrees, defaultMaxTrees)
	c.Log = cmp.Or(c.Log, slog.Default())
	if c.Redact == nil {
		c.Redact = func(text string, _ bool) string { return text }
	}
	if c.Instance == "" {
		host, err := os.Hostname()
		if err != nil {
			host = "?"
		}
		c.Instance = host + ":" + strconv.Itoa(os.Getpid())
	}
	return c, c.check()
}

func (c Config) check() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...)
	}
	switch {
	case c.Authorize == nil:
		return refuse("no Authorize: say who may look at the locks")
	case c.Prefix != "" && c.Prefix[0] != '/':
		return refuse("the Prefix %q does not begin with a slash", c.Prefix)
	case c.Poll < minPoll:
		return refuse("Poll is %v, and must be at least %v", c.Poll, minPoll)
	case c.MaxTrees < 0:
		return refuse("MaxTrees is negative")
	}
	for _, host := range c.Hosts {
		if !web.ValidHost(host) {
			return refuse("the host %q is not of the form host or host:port", host)
		}
	}
	return nil
}
