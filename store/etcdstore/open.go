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
)

// A member that has vanished without a word is noticed after both of these. gRPC asks no more often
// than every ten seconds, whatever it is told.
const (
	keepAliveTime    = 10 * time.Second
	keepAliveTimeout = 2 * time.Second
)

const defaultPort = "2379"

// Open returns a store on the etcd that a URL names, with a client of its own, which [Store.Close]
// closes.
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
// Open does not connect, and [Store.Ping] tells whether it can. Only where the URL has a user, Open
// logs in, and its error matches [pathlock.ErrUnavailable] if it cannot.
func Open(rawURL string, opts ...Option) (*Store, error) {
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
	s := New(client, append(u.options, opts...)...)
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

// whyNoLogin returns why there is no connection, where a login says no more than that its time is
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
			// gRPC goes by this alone: the client gives it a name for each address.
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
