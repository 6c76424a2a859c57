package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Store is a lock store in a table of a SQL database. Close leaves the pool open unless
// [WithClosePool] says otherwise.
type Store struct {
	pathlock.Store
	backend *backend
}

var _ pathlock.Store = (*Store)(nil)

// New returns a store in a database. It does not connect. The table has to be there: see
// [Store.Create].
//
// The pool may be the application's. The store needs a connection of it for each operation that is
// under way, and never one for a waiter. For the notifications of PostgreSQL it makes a connection
// of its own, with the settings of the pool's if their driver is pgx: see [WithListener]. If an
// application takes locks while its transactions hold all connections of the pool, it waits for
// itself: give the store its own pool, such as package sqlopen's, or a larger one.
func New(db *sql.DB, name Dialect, opts ...Option) (*Store, error) {
	if db == nil {
		return nil, errors.New("sqlstore: no database")
	}
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	d, err := databaseOf(name)
	if err != nil {
		return nil, err
	}
	b := &backend{
		config: c, db: db, home: newHome(),
		table: table{querier: db, database: d, name: c.prefix + "trees", decoder: new(ticketstore.Decoder)},
	}
	b.life, b.end = context.WithCancel(context.Background())
	b.watcher = newWatcher(b)
	if name == Postgres {
		if l := newListener(b); l != nil {
			b.watcher.listen = func() { b.running.Go(func() { l.run(b.life) }) }
		}
	}
	return &Store{Store: ticketstore.New("sqlstore", b, c.timeout), backend: b}, nil
}

// newHome returns a random name of a process.
func newHome() string { return "pathlock_" + rand.Text() }

// DB returns the pool that the store works with, for what only the database can tell, such as its
// settings. It ends with the store if package sqlopen made it.
func (s *Store) DB() *sql.DB { return s.backend.db }

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
	// keep is how long the row of an empty tree stays.
	keep time.Duration
	// sweepPortion is how many rows a statement of a sweep removes at most: those lock out whoever
	// wants to write them, and are removed though the next portion may not be.
	sweepPortion int64
	// makesTables says that an operation makes the table where it is missing.
	makesTables bool
	// closesPool says that Close closes the pool.
	closesPool bool
}

func newConfig(opts []Option) (config, error) {
	c := config{
		prefix: "pathlock_", timeout: 10 * time.Second, maxWaiters: 2_000,
		pollFrom: time.Millisecond, pollTo: 50 * time.Millisecond, pollListening: time.Second,
		keep: 10 * time.Minute, sweepPortion: 10_000,
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

// WithTimeout sets how long the database has to answer a call, including the wait for a connection
// and for other writers. A call ends at the latest its wait plus the time-out after it began. The
// context's deadline bounds it too. Values that are not positive are ignored. Defaults to 10
// seconds.
func WithTimeout(d time.Duration) Option {
	return func(c *config) { c.timeout = cmp.Or(max(d, 0), c.timeout) }
}

// WithMaxWaiters sets how many requests may wait in one tree. An update reads them all. A request
// too many gets a conflict at once, which also matches [pathlock.ErrQueueFull]. Values that are not
// positive are ignored. Defaults to 2,000.
func WithMaxWaiters(n int) Option {
	return func(c *config) { c.maxWaiters = cmp.Or(max(n, 0), c.maxWaiters) }
}

// WithListener sets how to connect to PostgreSQL for LISTEN. The connection has to lead to the
// database itself: a pgbouncer in transaction mode passes no notifications on, so that waiters look
// once a second. The store closes it. Defaults to a connection with the settings of the pool's, if
// their driver is pgx.
func WithListener(connect func(context.Context) (*pgx.Conn, error)) Option {
	return func(c *config) { c.listener = connect }
}

// WithAutoCreate makes every operation create a missing table ([Store.Create]), within its
// time-out. Only that needs the right to create tables.
func WithAutoCreate() Option { return func(c *config) { c.makesTables = true } }

// WithClosePool makes the store's Close close the pool too.
func WithClosePool() Option { return func(c *config) { c.closesPool = true } }
