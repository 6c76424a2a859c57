package zkstore

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"path"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// store is a [pathlock.Store] in ZooKeeper.
type store struct {
	pathlock.Store
	backend *backend
}

// errRoot is for a root that cannot be one.
var errRoot = errors.New("pathlock/zkstore: the root is the path of a znode, such as /pathlock")

// New returns a store on the ensemble of some servers, each host or host:port, with 2181 as the
// default port. It does not connect: the first call does, and Ping tells whether it can. All calls
// share one session, which Close ends.
func New(servers []string, opts ...Option) (pathlock.Store, error) {
	c := newConfig(opts)
	if err := checkRoot(c.root); err != nil {
		return nil, err
	}
	addrs, err := storeurl.Addrs(servers, defaultPort)
	if err != nil {
		return nil, fmt.Errorf("pathlock/zkstore: %w", err)
	}
	if len(addrs) == 0 {
		return nil, errors.New("pathlock/zkstore: no servers")
	}
	b := &backend{
		client: newClient(addrs, c),
		names:  names{strings.TrimSuffix(c.root, "/")}, acl: c.acl(),
		keep: c.keep, clock: newClock(),
	}
	return &store{Store: ticketstore.New("zkstore", b, c.timeout), backend: b}, nil
}

func checkRoot(root string) error {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	if !path.IsAbs(root) || path.Clean(root) != strings.TrimSuffix(root, "/") || strings.ContainsFunc(root, control) {
		return errRoot
	}
	return nil
}

// patience is how long requests that are under way have until Close ends the session.
const patience = 2 * time.Second

// Close ends all calls that wait, and then the session. What this process still holds stays until
// its leases end. If ctx ends first, the error matches ctx's.
func (s *store) Close(ctx context.Context) error {
	time.AfterFunc(patience, s.backend.client.end) // of servers that do not answer
	defer context.AfterFunc(ctx, s.backend.client.end)()
	return s.Store.Close(ctx)
}

// Open returns a store on the ensemble that a URL names. It does not connect: the first call does,
// and Ping tells whether it can.
//
//	zk://[user:password@]host1[:port],host2[:port][/root]    zks:// with TLS
//
// The user and the password are for [WithDigest], and percent-encoded. The path is the znode for
// [WithRoot], and the port defaults to 2181. A query may set the option timeout, such as 30s. With
// TLS, it may also set ca_file, the authorities to trust instead of the system's, cert_file and
// key_file, this client's certificate, and server_name, the name in the servers' certificates if it
// is not their host. Further options, from opts, go before the URL's.
func Open(rawURL string, opts ...Option) (pathlock.Store, error) {
	servers, fromURL, err := parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("pathlock/zkstore: %w", err)
	}
	return New(servers, append(opts, fromURL...)...)
}

// Kind is the option with which anystore.Open takes the URLs of [Open].
func Kind(o *storeurl.Options) {
	o.Kinds = append(o.Kinds, storeurl.Kind{
		Schemes: []string{"zk", "zks"}, Forms: []string{"zk://h1,h2,h3/root"}, Secure: storeurl.WithUsersPassword,
		Open: func(_ context.Context, url string, _ storeurl.Options) (pathlock.Store, error) { return Open(url) },
	})
}

const defaultPort = "2181"

// parse reads a URL.
func parse(rawURL string) (servers []string, opts []Option, err error) {
	u, err := storeurl.ParseServers(rawURL, "zk", defaultPort)
	if err != nil {
		return nil, nil, err
	}
	if u.TLS != nil {
		opts = append(opts, WithTLS(u.TLS))
	}
	if u.User != "" {
		opts = append(opts, WithDigest(u.User, u.Password))
	}
	if u.Path != "" {
		opts = append(opts, WithRoot("/"+u.Path))
	}
	timeout, late := storeurl.TakeTimeout(u.Options)
	opts = append(opts, WithTimeout(timeout))
	return u.Addrs, opts, cmp.Or(late, u.Unknown("timeout"))
}

// Option is a setting of [New] and [Open].
type Option func(*config)

type config struct {
	root           string
	timeout        time.Duration
	keep           time.Duration // see backend
	user, password string
	tls            *tls.Config
}

func newConfig(opts []Option) config {
	c := config{root: defaultRoot, timeout: 6 * time.Second, keep: time.Minute}
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
	return func(c *config) { c.timeout = cmp.Or(max(d, 0), c.timeout) }
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
