package zkstore

import (
	"cmp"
	"fmt"

	"github.com/pathlock-go/pathlock/internal/storeurl"
)

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
func Open(rawURL string, opts ...Option) (*Store, error) {
	servers, fromURL, err := parse(rawURL)
	if err != nil {
		return nil, fmt.Errorf("pathlock/zkstore: %w", err)
	}
	return New(servers, append(opts, fromURL...)...)
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
