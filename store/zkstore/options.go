package zkstore

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/go-zookeeper/zk"
)

// Option is a setting of a [Store].
type Option func(*config)

type config struct {
	root    string
	timeout time.Duration
	// sweep is how often this process looks for trees in which only ended tickets are left.
	sweep          time.Duration
	user, password string
	tls            *tls.Config
}

func newConfig(opts []Option) config {
	c := config{root: defaultRoot, timeout: 6 * time.Second, sweep: 10 * time.Minute}
	for _, opt := range opts {
		opt(&c)
	}
	return c
}

// WithRoot sets the znode below which everything is kept. Stores with different roots know nothing
// of each other's locks. It is created when it is needed, with those above it. Defaults to
// /pathlock.
func WithRoot(path string) Option { return func(c *config) { c.root = path } }

// WithTimeout sets how long ZooKeeper has to answer a call. A call ends at the latest its
// wait plus the time-out after it began. The context's deadline bounds it too. It is the session's
// time-out as well: a server that does not answer within two thirds of it is left for another one.
// Values that are not positive are ignored. Defaults to 6 seconds.
func WithTimeout(d time.Duration) Option {
	return func(c *config) {
		if d > 0 {
			c.timeout = d
		}
	}
}

// WithDigest gives every session the credentials of ZooKeeper's digest scheme, and every znode that
// is created an ACL that allows everything to that user and nothing to others. Defaults to an ACL
// that allows everything to everybody.
func WithDigest(user, password string) Option {
	return func(c *config) { c.user, c.password = user, password }
}

// WithTLS connects with TLS, to the servers' secureClientPort.
func WithTLS(settings *tls.Config) Option { return func(c *config) { c.tls = settings } }

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
