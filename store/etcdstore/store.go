package etcdstore

import (
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Store is a [pathlock.Store] in etcd. Make one per process with [New] or [Open], and close it
// in the end.
type Store struct {
	pathlock.Store
	backend *backend
}

var _ pathlock.Store = (*Store)(nil)

// New returns a store that keeps its locks in the etcd that client talks to. Stores on one etcd
// with one prefix see each other's locks. The client remains the caller's.
//
// Give the client the endpoints of all members, and a DialKeepAliveTime, as [Open] does: without
// it, a client notices very late that a member has vanished without a word.
func New(client *clientv3.Client, opts ...Option) *Store {
	b := newBackend(client, newConfig(opts))
	return &Store{Store: ticketstore.New("etcdstore", b, b.config.timeout), backend: b}
}

// Client returns the client that the store works with, for what only etcd can tell, such as its
// alarms. It ends with the store if [Open] made it.
func (s *Store) Client() *clientv3.Client { return s.backend.client }

// Option is a setting of a [Store].
type Option func(*config)

type config struct {
	prefix  string
	timeout time.Duration
	maxOps  int
}

func newConfig(opts []Option) config {
	c := config{prefix: DefaultPrefix, timeout: 5 * time.Second, maxOps: 128}
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// patience is how long the nth sending of a request may go unanswered before it is sent again, to
// another member if there is one. The first are short, because a member that hangs keeps its
// connection, and gets its share of the requests, until the client finds out.
func (c config) patience(n int) time.Duration {
	return max(min(c.timeout>>4<<min(n, 8), c.longest()), 20*time.Millisecond)
}

// longest is the longest time that one sending may go unanswered.
func (c config) longest() time.Duration { return c.timeout / 4 }

// WithPrefix sets what the names of all keys begin with. Stores with different prefixes know
// nothing of each other's locks, unless one prefix begins with the other. A slash is added if the
// prefix does not end in one. Defaults to [DefaultPrefix].
func WithPrefix(prefix string) Option { return func(c *config) { c.prefix = prefix } }

// WithTimeout sets how long etcd has to answer a call. A call ends at the latest its wait plus
// the time-out after it began. The context's deadline bounds it too. Values that are not positive
// are ignored. Defaults to 5 seconds, longer than the choice of a new leader takes with etcd's
// default settings.
func WithTimeout(d time.Duration) Option {
	return func(c *config) {
		if d > 0 {
			c.timeout = d
		}
	}
}

// WithMaxTxnOps says what the members' --max-txn-ops is. An update that writes n tickets has n+1
// operations. Values under 10 are ignored. Defaults to 128, as etcd does.
func WithMaxTxnOps(n int) Option {
	return func(c *config) {
		if n >= 10 {
			c.maxOps = n
		}
	}
}
