package redisstore

import "time"

// DefaultTimeout is how long a store waits for Redis to answer one command, unless [WithTimeout] says otherwise.
const DefaultTimeout = 3 * time.Second

// Option configures a [Store].
type Option func(*config)

type config struct {
	prefix  string
	timeout time.Duration
	// linger is how long the subscription outlives the last waiter, so that a tree under
	// contention does not subscribe anew for every waiter.
	linger time.Duration
}

func newConfig(opts []Option) config {
	c := config{prefix: DefaultPrefix, timeout: DefaultTimeout, linger: time.Second}
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// WithPrefix sets what the names of all keys begin with, in place of [DefaultPrefix]: stores with
// different prefixes know nothing of each other's locks, and [GateKey] names
// the gates of the default prefix alone. Any text will do; it is escaped as the trees' names are.
func WithPrefix(prefix string) Option { return func(c *config) { c.prefix = prefix } }

// WithTimeout sets how long to wait for Redis to answer one command, in place of
// [DefaultTimeout]; the context's deadline bounds it too. Values that are not positive are ignored.
func WithTimeout(d time.Duration) Option {
	return func(c *config) {
		if d > 0 {
			c.timeout = d
		}
	}
}
