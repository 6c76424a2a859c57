package zkstore

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/go-zookeeper/zk"
)

// The values that options change.
const (
	// DefaultTimeout is how long ZooKeeper has to answer a call: see [WithTimeout].
	DefaultTimeout = 6 * time.Second
	// DefaultSweep is how often ended tickets are looked for: see [WithSweep].
	DefaultSweep = 10 * time.Minute
)

// defaultPacket is the jute.maxbuffer that servers have unless they are told otherwise.
const defaultPacket = 1<<20 - 1

// Option configures a [Store].
type Option func(*config)

type config struct {
	root           string
	timeout, sweep time.Duration
	packet         int
	user, password string
	tls            *tls.Config
}

func newConfig(opts []Option) config {
	c := config{
		root: DefaultRoot, timeout: DefaultTimeout, sweep: DefaultSweep,
		packet: defaultPacket,
	}
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// WithRoot sets the znode below which everything is kept, in place of [DefaultRoot]. Stores with
// different roots know nothing of each other's locks. It is created when it is needed, with those
// above it.
func WithRoot(path string) Option { return func(c *config) { c.root = path } }

// WithTimeout sets how long ZooKeeper has to answer a call, in place of [DefaultTimeout]. A call
// ends at the latest its wait plus the time-out after it began. The context's deadline bounds it
// too. It is the session's time-out as well: a server that does not answer within two thirds of it
// is left for another one. Values that are not positive are ignored.
func WithTimeout(d time.Duration) Option {
	return func(c *config) {
		if d > 0 {
			c.timeout = d
		}
	}
}

// WithDigest gives every session the credentials of ZooKeeper's digest scheme, and every znode that
// is created an ACL that allows everything to that user and nothing to others.
func WithDigest(user, password string) Option {
	return func(c *config) { c.user, c.password = user, password }
}

// WithTLS connects with TLS, to the servers' secureClientPort.
func WithTLS(settings *tls.Config) Option { return func(c *config) { c.tls = settings } }

// WithMaxPacket tells the servers' jute.maxbuffer, in bytes, where that is not the default of 1 MB.
// It bounds how large a claim set can be. Values that are not positive are ignored.
func WithMaxPacket(n int) Option {
	return func(c *config) {
		if n > 0 {
			c.packet = n
		}
	}
}

// WithSweep sets how often one of the processes looks for trees in which only ended tickets are
// left, and removes these, in place of [DefaultSweep]. 0 has this process never do it.
func WithSweep(every time.Duration) Option { return func(c *config) { c.sweep = every } }

// acl returns the ACL of what is created.
func (c config) acl() []zk.ACL {
	if c.user == "" {
		return zk.WorldACL(zk.PermAll)
	}
	return zk.DigestACL(zk.PermAll, c.user, c.password)
}

// connect makes a connection to a server.
func (c config) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if c.tls != nil {
		return (&tls.Dialer{Config: c.tls}).DialContext(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}
