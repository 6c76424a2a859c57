package quorum

import (
	"strconv"
	"time"
)

// DefaultTimeout is how long a member has to answer, unless [WithTimeout] says otherwise.
const DefaultTimeout = 500 * time.Millisecond

// DefaultDrift is by how much faster than this process's clock a member's may run, unless
// [WithDrift] says otherwise: 50 millionths, which is what quartz clocks do.
const DefaultDrift = 50e-6

// DefaultSkew is how far apart the members' clocks may be for fences that grow whichever members
// answer, unless [WithSkew] says otherwise.
const DefaultSkew = 10 * time.Millisecond

// Option configures a [Store].
type Option func(*config)

type config struct {
	timeout time.Duration
	drift   float64
	skew    time.Duration
	names   []string
}

func newConfig(opts []Option) config {
	c := config{timeout: DefaultTimeout, drift: DefaultDrift, skew: DefaultSkew}
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// name returns what errors call a member.
func (c *config) name(i int) string {
	if i < len(c.names) && c.names[i] != "" {
		return c.names[i]
	}
	return "member " + strconv.Itoa(i+1)
}

// WithTimeout sets how long a member has to answer a question, in place of [DefaultTimeout]. One
// that does not is silent: it is asked in the background alone until it answers. A wait in a
// member's queue may last longer. Values that are not positive are ignored.
func WithTimeout(d time.Duration) Option {
	return func(c *config) {
		if d > 0 {
			c.timeout = d
		}
	}
}

// WithDrift sets by which fraction a member's clock may run faster than this process's, in place of
// [DefaultDrift]. Members are asked for leases that are longer by so much, and by two milliseconds
// at least. Redlock's own proposal is 0.01. Negative values are ignored.
func WithDrift(fraction float64) Option {
	return func(c *config) {
		if fraction >= 0 {
			c.drift = fraction
		}
	}
}

// WithSkew sets how far apart the members' clocks may be for fences that grow whichever members
// answer, in place of [DefaultSkew]. An acquisition waits for as long as the clocks of the majority
// that granted it are apart, but no longer than this. 0 has none wait. Negative values are ignored.
func WithSkew(d time.Duration) Option {
	return func(c *config) {
		if d >= 0 {
			c.skew = d
		}
	}
}

// WithNames sets what errors call the members, in their order. Without it they are "member 1" and
// so on.
func WithNames(names ...string) Option {
	return func(c *config) { c.names = names }
}
