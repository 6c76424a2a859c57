package sqlstore

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"
)

// Option is a setting of a [Store].
type Option func(*config)

type config struct {
	prefix     string
	timeout    time.Duration
	maxWaiters int
	listener   func(context.Context) (*pgx.Conn, error)
	// pollFrom and pollTo bound the pauses between two looks for news. pollListening is the pause
	// while notifications arrive.
	pollFrom, pollTo, pollListening time.Duration
	// keep is how long the row of an empty tree stays, and sweepEvery how often to look for such
	// rows.
	keep, sweepEvery time.Duration
	// makesTables says that the first operation checks the table, and makes it.
	makesTables bool
	// ownPool says that Close closes the pool.
	ownPool bool
}

func newConfig(opts []Option) (config, error) {
	c := config{
		prefix: "pathlock_", timeout: 10 * time.Second, maxWaiters: 2_000,
		pollFrom: time.Millisecond, pollTo: 50 * time.Millisecond, pollListening: time.Second,
		keep: 10 * time.Minute, sweepEvery: time.Minute,
	}
	for _, opt := range opts {
		opt(&c)
	}
	if !prefixes.MatchString(c.prefix) {
		return c, fmt.Errorf("sqlstore: the prefix %q: give up to 40 lower-case letters, digits and underscores, a letter first", c.prefix)
	}
	return c, nil
}

// prefixes are those that every database takes without quotes, and that leave room for the rest of
// a name.
var prefixes = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// WithPrefix sets what the name of the table begins with. Stores with different prefixes know
// nothing of each other's locks. Defaults to pathlock_.
func WithPrefix(prefix string) Option { return func(c *config) { c.prefix = prefix } }

// WithTimeout sets how long the database has to answer a call: to give it a connection, and its
// turn beside those who write. A call ends at the latest its wait plus the time-out after it began.
// The context's deadline bounds it too. Values that are not positive are ignored. Defaults to 10
// seconds.
func WithTimeout(d time.Duration) Option {
	return func(c *config) {
		if d > 0 {
			c.timeout = d
		}
	}
}

// WithMaxWaiters sets how many requests may wait in one tree. An update reads them all. A request
// too many gets a conflict at once, which also matches [pathlock.ErrQueueFull]. Values that are not
// positive are ignored. Defaults to 2,000.
func WithMaxWaiters(n int) Option {
	return func(c *config) {
		if n > 0 {
			c.maxWaiters = n
		}
	}
}

// WithListener sets how to connect to PostgreSQL for LISTEN.
// The connection has to lead to the database itself: a pgbouncer in transaction mode passes no
// notifications on, so that waiters look once in a second. The store closes it.
// Defaults to a connection with the settings of the pool's, if their driver is pgx.
func WithListener(connect func(context.Context) (*pgx.Conn, error)) Option {
	return func(c *config) { c.listener = connect }
}

// WithTables has the first operation check the table, and each one create it where it is missing,
// as [Store.Check] and [Store.Create] do, within its own time. Only the latter needs the right to
// create tables.
func WithTables() Option { return func(c *config) { c.makesTables = true } }

// WithOwnPool has the store's Close close the pool too.
func WithOwnPool() Option { return func(c *config) { c.ownPool = true } }
