package etcdstore

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/storeurl"
)

// A member that has vanished without a word is noticed after both of these. Members refuse clients
// that ask more often than every five seconds, by default.
const (
	keepAliveTime    = 6 * time.Second
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
		return nil, err
	}
	config := newConfig(append(u.options, opts...))
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            u.endpoints,
		Username:             u.user,
		Password:             u.password,
		TLS:                  u.tls,
		DialTimeout:          config.timeout,
		DialKeepAliveTime:    keepAliveTime,
		DialKeepAliveTimeout: keepAliveTimeout,
		Logger:               zap.NewNop(), // errors are returned
		DialOptions:          u.dial,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: etcdstore: connecting: %w", pathlock.ErrUnavailable, err)
	}
	s := New(client, append(u.options, opts...)...)
	s.own = client
	return s, nil
}

// errMalformed quotes nothing of the URL: a password may be anywhere in a malformed one.
var errMalformed = errors.New("etcdstore: not a valid etcd URL: see Open for its form; in a user or password, write / ? # @ : % as %2F %3F %23 %40 %3A %25")

// errNoPassword is for a URL with a user and no password: etcd has no such users.
var errNoPassword = errors.New("etcdstore: the URL names a user without a password")

// location is what a URL says.
type location struct {
	endpoints      []string
	user, password string
	tls            *tls.Config
	dial           []grpc.DialOption
	options        []Option
}

func parseURL(rawURL string) (location, error) {
	var l location
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok || scheme != "etcd" && scheme != "etcds" {
		return l, errors.New("etcdstore: the URL's scheme is not etcd or etcds")
	}
	rest, query, _ := strings.Cut(rest, "?")
	if strings.ContainsRune(rawURL, '#') || strings.ContainsRune(query, '@') { // in a password
		return l, errMalformed
	}
	hosts, prefix, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(hosts, '@'); i >= 0 {
		var err error
		if l.user, l.password, err = parseUser(hosts[:i]); err != nil {
			return l, err
		}
		hosts = hosts[i+1:]
	}
	web := "http://"
	if scheme == "etcds" {
		web = "https://"
		l.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	for host := range strings.SplitSeq(hosts, ",") {
		if !strings.Contains(host, ":") || strings.HasSuffix(host, "]") {
			host += ":" + defaultPort
		}
		if err := storeurl.CheckPort(host); err != nil {
			return l, fmt.Errorf("%w (%w)", errMalformed, err)
		}
		l.endpoints = append(l.endpoints, web+host)
	}
	if prefix != "" {
		name, err := url.PathUnescape(prefix)
		if err != nil {
			return l, errMalformed
		}
		l.options = append(l.options, WithPrefix("/"+name))
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return l, errMalformed
	}
	return l, l.apply(values)
}

// parseUser reads user:password.
func parseUser(s string) (user, password string, err error) {
	user, password, _ = strings.Cut(s, ":")
	if user, err = url.PathUnescape(user); err == nil {
		password, err = url.PathUnescape(password)
	}
	switch {
	case err != nil, user == "":
		return "", "", errMalformed
	case password == "":
		return "", "", errNoPassword
	}
	return user, password, nil
}

// apply applies the options of a URL.
func (l *location) apply(values url.Values) error {
	if err := storeurl.Take(values, l.tls); err != nil {
		return fmt.Errorf("etcdstore: %w", err)
	}
	if l.tls != nil && l.tls.ServerName != "" {
		// gRPC goes by this alone: the client gives it a name for each address.
		l.dial = append(l.dial, grpc.WithAuthority(l.tls.ServerName))
	}
	for name := range values {
		value := values.Get(name)
		switch name {
		case "timeout":
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return fmt.Errorf("etcdstore: the URL's timeout %q is no duration such as 5s", value)
			}
			l.options = append(l.options, WithTimeout(d))
		case "max_txn_ops":
			n, err := strconv.Atoi(value)
			if err != nil || n < 10 {
				return fmt.Errorf("etcdstore: the URL's max_txn_ops %q is no number from 10 on", value)
			}
			l.options = append(l.options, WithMaxTxnOps(n))
		default:
			return fmt.Errorf("etcdstore: the URL has an unknown option %q", name)
		}
	}
	return nil
}
