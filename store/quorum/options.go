package quorum

import (
	"strconv"
	"time"
)

// DefaultTimeout is how long a member has to answer, unless [WithTimeout] says otherwise.
const DefaultTimeout = 500 * time.Millisecond

// Option configures a [Store].
type Option func(*config)

type config struct {
	timeout time.Duration
	names   []string
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

// WithNames sets what errors call the members, in their order. Without it they are "member 1" and
// so on.
func WithNames(names ...string) Option {
	return func(c *config) { c.names = names }
}
