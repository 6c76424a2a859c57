package etcdstore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// store is a [pathlock.Store] in etcd.
type store struct {
	pathlock.Store
	backend *backend
}

var _ pathlock.Store = (*store)(nil)

// New returns a store that keeps its locks in the etcd that client talks to. Stores on one etcd
// with one prefix see each other's locks. The client remains the caller's. Make one store per
// process, and close it at the end.
//
// Give the client the endpoints of all members, and a DialKeepAliveTime, as [Open] does: without
// it, a client notices very late that a member has vanished silently.
func New(client *clientv3.Client, opts ...Option) pathlock.Store { return onClient(client, opts) }

func onClient(client *clientv3.Client, opts []Option) *store {
	b := newBackend(client, newConfig(opts))
	return &store{Store: ticketstore.New("etcdstore", b, b.config.timeout), backend: b}
}

// Client returns the client that the store works with, for what only etcd can tell, such as its
// alarms. It ends with the store if [Open] made it.
func (s *store) Client() *clientv3.Client { return s.backend.client }

// Option is a setting of [New] and [Open].
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
// another member if there is one. The first waits are short, because a member that hangs keeps its
// connection, and gets its share of the requests, until the client notices.
func (c config) patience(n int) time.Duration {
	return max(min(c.timeout>>4<<min(n, 8), c.timeout/4), 20*time.Millisecond)
}

// WithPrefix sets what the names of all keys begin with. Stores with different prefixes know
// nothing of each other's locks, unless one prefix begins with the other. A slash is added if the
// prefix does not end in one. Defaults to [DefaultPrefix].
func WithPrefix(prefix string) Option { return func(c *config) { c.prefix = prefix } }

// WithTimeout sets how long etcd has to answer a call. A call ends at the latest its wait plus
// the time-out after it began. The context's deadline bounds it too. Values that are not positive
// are ignored. Defaults to 5 seconds, longer than the choice of a new leader takes with etcd's
// default settings.
func WithTimeout(d time.Duration) Option {
	return func(c *config) { c.timeout = cmp.Or(max(d, 0), c.timeout) }
}

// WithMaxTxnOps says what the members' --max-txn-ops is. An update that writes n tickets has n+2
// operations. Values under 10 are ignored. Defaults to 128, as etcd does.
func WithMaxTxnOps(n int) Option {
	return func(c *config) {
		if n >= 10 {
			c.maxOps = n
		}
	}
}

// The client notices that a member has vanished silently after both of these times. gRPC asks no
// more often than every ten seconds, whatever its settings.
const (
	keepAliveTime    = 10 * time.Second
	keepAliveTimeout = 2 * time.Second
)

const defaultPort = "2379"

// Open returns a store on the etcd that a URL names, with a client of its own, which Close closes.
//
//	etcd://[user:password@]host1[:port],host2[:port]…[/prefix][?options]    etcds:// with TLS
//
// Name all members. The prefix is that of [WithPrefix]. User and password are percent-encoded. The
// options are
//
//	timeout=5s          see WithTimeout
//	max_txn_ops=128     see WithMaxTxnOps
//	ca_file=ca.pem      the authorities to trust, instead of the system's
//	cert_file=my.pem    this client's certificate, with key_file=my.key
//	server_name=etcd    the name in the members' certificates, if it is not their host
//
// Open does not connect, and Ping tells whether it can. If the URL has a user, though, Open logs
// in, and its error matches [pathlock.ErrUnavailable] if it cannot.
func Open(rawURL string, opts ...Option) (pathlock.Store, error) {
	u, err := parseURL(rawURL)
	if err != nil {
		return nil, fmt.Errorf("etcdstore: %w", err)
	}
	config := newConfig(append(u.options, opts...))
	settings := clientv3.Config{
		Endpoints:            u.endpoints,
		Username:             u.User,
		Password:             u.Password,
		TLS:                  u.TLS,
		DialTimeout:          config.timeout,
		DialKeepAliveTime:    keepAliveTime,
		DialKeepAliveTimeout: keepAliveTimeout,
		Logger:               zap.NewNop(), // errors are returned
		DialOptions:          u.dial,
	}
	client, err := clientv3.New(settings)
	if err != nil {
		return nil, fmt.Errorf("%w: etcdstore: logging in: %w", pathlock.ErrUnavailable, whyNoLogin(settings, err))
	}
	s := onClient(client, append(u.options, opts...))
	s.backend.own = client
	return s, nil
}

// Kind is the option with which anystore.Open takes the URLs of [Open].
func Kind(o *storeurl.Options) {
	o.Kinds = append(o.Kinds, storeurl.Kind{
		Schemes: []string{"etcd", "etcds"}, Forms: []string{"etcd://h1,h2,h3/prefix"}, Secure: storeurl.WithUsersPassword,
		Open: func(_ context.Context, url string, _ storeurl.Options) (pathlock.Store, error) { return Open(url) },
	})
}

// whyNoLogin returns why there is no connection, if the error of a login says only that its time is
// up.
func whyNoLogin(settings clientv3.Config, err error) error {
	settings.Username, settings.Password = "", ""
	client, failed := clientv3.New(settings)
	if failed != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	return (&backend{client: client}).why(context.Background(), err)
}

// location is what a URL says.
type location struct {
	storeurl.Servers
	endpoints []string
	dial      []grpc.DialOption
	options   []Option
}

func parseURL(rawURL string) (location, error) {
	u, err := storeurl.ParseServers(rawURL, "etcd", defaultPort)
	l := location{Servers: u}
	if err != nil {
		return l, err
	}
	web := "http://"
	if l.TLS != nil {
		web = "https://"
		if l.TLS.ServerName != "" {
			// gRPC uses only this name: the client gives it one for each address.
			l.dial = append(l.dial, grpc.WithAuthority(l.TLS.ServerName))
		}
	}
	for _, addr := range l.Addrs {
		l.endpoints = append(l.endpoints, web+addr)
	}
	if l.Path != "" {
		l.options = append(l.options, WithPrefix("/"+l.Path))
	}
	timeout, late := storeurl.TakeTimeout(l.Options)
	ops, few := storeurl.TakeNumber(l.Options, "max_txn_ops", 10)
	l.options = append(l.options, WithTimeout(timeout), WithMaxTxnOps(ops))
	return l, cmp.Or(late, few, l.Unknown("timeout, max_txn_ops"))
}
