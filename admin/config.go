package admin

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/contention"
	"github.com/pathlock-go/pathlock/internal/ownhost"
)

// Defaults of a [Config].
const (
	// DefaultPrefix is the path below which the page is mounted.
	DefaultPrefix = "/admin/locks"
	// DefaultPoll is the pause between two looks at a tree that somebody watches.
	DefaultPoll = time.Second
	// DefaultMaxViewers is how many may watch at once.
	DefaultMaxViewers = 100
	// DefaultMaxTrees is how many trees the overview counts.
	DefaultMaxTrees = 100
	// DefaultStreamFor is how long an event stream lasts until the browser has to ask for another.
	DefaultStreamFor = 10 * time.Minute
)

// minPoll protects the lock store from a Poll that was meant as a number of seconds.
const minPoll = 10 * time.Millisecond

// ErrUnauthorized is what an authorisation callback returns, wrapped or not, for a request that
// names nobody. The answer is 401 then, and 403 for every other error.
var ErrUnauthorized = errors.New("admin: not signed in")

// ErrConfig is matched by the errors of [New].
var ErrConfig = errors.New("admin: unusable configuration")

// Config says who may use a page, and what it shows. All fields but Authorize are optional.
type Config struct {
	// Authorize returns nil if the request may look at the locks: required. It is called for every
	// request, and for an event stream at its beginning. Its error is logged at debug level, and
	// not shown.
	Authorize func(r *http.Request) error
	// AuthorizeRelease returns who asks, for the log, if the request may take away what others
	// hold. It is called after Authorize, for a release, and also where the page asks whether to
	// offer one. The page is read-only if it is nil.
	AuthorizeRelease func(r *http.Request) (who string, err error)

	// Prefix begins the paths of all requests as the page gets them: [DefaultPrefix] if it is "".
	// Where [http.StripPrefix] or a proxy removes what is before the page's own paths, it is "/".
	// All other paths are answered with 404: if there were two spellings of a path, a rule in a
	// proxy for the one would not know the other.
	Prefix string
	// Hosts are the names, with or without a port, under which browsers reach the page. Requests
	// with another Host header are refused. If there are none, every name will do, except for
	// requests that arrive on a loopback address: there it has to be localhost, a name below it, or
	// an IP address. So a foreign page cannot have its own name resolved to 127.0.0.1, and read
	// what listens there. A proxy has to pass on the name that the browser asked for.
	Hosts []string
	// Origins are further origins, such as "https://admin.example.com", from which a release may
	// come. It is needed only where a proxy changes the Host header, for browsers older than 2023.
	Origins []string

	// Redact returns the text to show instead of a name in a path, or of a note. Equal names have
	// to give equal texts, or the tree falls apart. Where different names give equal texts, as an
	// empty text does, which is shown as "…" for a name, their nodes are shown as one. It is called
	// often and must be fast. If it panics, the text is "redact-failed-" with a hash, and the log
	// gets an error with the stack.
	Redact func(kind Kind, text string) string
	// History has the stalls to show. The page has none if it is nil.
	History *contention.Recorder
	// Instance names the process that answers. The default is the host's name and the process id,
	// as with [pathlock.WithInstance].
	Instance string
	// Log gets each release with who asked for it and why, as a warning, and each release that was
	// refused, whatever for: ten a minute of each kind, with how many got no line before. It is
	// [slog.Default] if it is nil.
	Log *slog.Logger
	// Now is the clock of what the page shows: [time.Now] if it is nil.
	Now func() time.Time

	// Poll is the pause between two looks at a tree that somebody watches: [DefaultPoll] if it is
	// 0. All trees are looked at half as often.
	Poll time.Duration
	// MaxViewers is how many event streams there may be, and how many different trees are watched:
	// [DefaultMaxViewers] if it is 0.
	MaxViewers int
	// MaxTrees is how many trees the overview counts: [DefaultMaxTrees] if it is 0. It names ten
	// times as many.
	MaxTrees int
	// StreamFor is how long an event stream lasts: [DefaultStreamFor] if it is 0. The browser opens
	// another one then, for which Authorize is asked again.
	StreamFor time.Duration
}

// Kind is what a text that [Config.Redact] may replace is.
type Kind int

// The kinds.
const (
	// KindName is a name in a path.
	KindName Kind = iota + 1
	// KindNote is the note of a lock.
	KindNote
)

// withDefaults returns the configuration with all fields filled in. Its error matches [ErrConfig].
func (c Config) withDefaults() (Config, error) {
	c.Prefix = strings.TrimSuffix(cmp.Or(c.Prefix, DefaultPrefix), "/")
	c.Poll = cmp.Or(c.Poll, DefaultPoll)
	c.MaxViewers = cmp.Or(c.MaxViewers, DefaultMaxViewers)
	c.MaxTrees = cmp.Or(c.MaxTrees, DefaultMaxTrees)
	c.StreamFor = cmp.Or(c.StreamFor, DefaultStreamFor)
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Redact == nil {
		c.Redact = func(_ Kind, text string) string { return text }
	}
	if c.Instance == "" {
		c.Instance = "?:" + strconv.Itoa(os.Getpid())
		if host, err := os.Hostname(); err == nil {
			c.Instance = host + ":" + strconv.Itoa(os.Getpid())
		}
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
		return refuse("a Poll of %v, at least %v is needed", c.Poll, minPoll)
	case c.MaxViewers < 0, c.MaxTrees < 0, c.StreamFor < 0:
		return refuse("a negative limit")
	}
	for _, origin := range c.Origins {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Scheme == "" || u.Scheme+"://"+u.Host != origin {
			return refuse("the origin %q is not of the form https://host:port", origin)
		}
	}
	for _, host := range c.Hosts {
		if !ownhost.Valid(host) {
			return refuse("the host %q is not of the form host or host:port", host)
		}
	}
	return nil
}

var _ Locks = (*pathlock.Locker)(nil)
