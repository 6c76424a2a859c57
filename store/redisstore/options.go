package redisstore

import "time"

// defaultMaxWaiters is that of [WithMaxWaiters].
const defaultMaxWaiters = 2_000

// Option is a setting of [New] and [Open].
type Option func(*config)

type config struct {
	prefix  string
	timeout time.Duration
	// maxClaims and maxWaiters are the limits of a request and of a tree's queue.
	maxClaims, maxWaiters int
}

func newConfig(opts []Option) config {
	c := config{
		prefix: defaultPrefix, timeout: 3 * time.Second,
		maxClaims: 300, maxWaiters: defaultMaxWaiters,
	}
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// WithPrefix sets what the names of all keys begin with: stores with different prefixes know
// nothing of each other's locks, and [GateKey] names their gates by this option. Any
// text will do; it is escaped as the trees' names are. Defaults to pathlock.
func WithPrefix(prefix string) Option { return func(c *config) { c.prefix = prefix } }

// WithTimeout sets how long Redis has to answer a call. A call ends at the latest its wait plus
// the time-out after it began; a Snapshot or Trees of many pages has it for each. The context's
// deadline bounds it too. Values that are not positive are ignored. Defaults to 3 seconds.
func WithTimeout(d time.Duration) Option {
	return func(c *config) {
		if d > 0 {
			c.timeout = d
		}
	}
}

// WithMaxClaims sets how many nodes a request may claim, intentions included. One that claims
// more is refused with an error that matches [pathlock.ErrInvalidRequest]; a claim on an ancestor,
// or the gate, does in its place. A script that grants 300 keeps the server from its other work for
// about a millisecond. Values that are not positive are ignored. Defaults to 300.
func WithMaxClaims(n int) Option {
	return func(c *config) {
		if n > 0 {
			c.maxClaims = n
		}
	}
}

// WithMaxWaiters sets how many requests may wait in one tree. Each takes some 150 bytes of the
// server's memory for every node that it claims. A request too many gets a conflict at once, which
// also matches [pathlock.ErrQueueFull]. Values that are not positive are ignored. Defaults to
// 2,000.
func WithMaxWaiters(n int) Option {
	return func(c *config) {
		if n > 0 {
			c.maxWaiters = n
		}
	}
}
