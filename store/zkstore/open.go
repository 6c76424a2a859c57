package zkstore

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/internal/storeurl"
)

// Open returns a store on the ensemble that a URL names. It does not connect: the first call does,
// and Ping tells whether it can.
//
//	zk://[user:password@]host1[:port],host2[:port][/root]    zks:// with TLS
//
// The user and the password are for [WithDigest], and percent-encoded. The path is the znode for
// [WithRoot], and the port defaults to 2181. A query may set the options timeout and sweep, such as
// 30s, and max_packet. With TLS, it may also set ca_file, the authorities to trust
// instead of the system's, cert_file and key_file, this client's certificate, and server_name, the
// name in the servers' certificates if it is not their host. Further options, from opts, go before
// the URL's.
func Open(rawURL string, opts ...Option) (*Store, error) {
	fromURL, servers, err := parse(rawURL)
	if err != nil {
		return nil, err
	}
	return New(servers, append(opts, fromURL...)...)
}

// errMalformed quotes nothing of the URL: a password may be anywhere in a malformed one.
var errMalformed = errors.New("pathlock/zkstore: not a valid URL: see Open for its form; in a user or password, write / ? # @ : , % as %2F %3F %23 %40 %3A %2C %25")

// errNoPassword is for a URL with a user and nothing that could be the password.
var errNoPassword = errors.New("pathlock/zkstore: the URL names a user without a password")

// parse reads a URL with several hosts, which net/url does not.
func parse(rawURL string) (opts []Option, servers []string, err error) {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	var config *tls.Config
	switch {
	case !ok, scheme != "zk" && scheme != "zks":
		return nil, nil, errors.New("pathlock/zkstore: the URL's scheme is not zk or zks")
	case strings.Contains(rest, "#"):
		return nil, nil, errMalformed
	case strings.LastIndexByte(rest, '@') > strings.IndexAny(rest+"/", "/?"):
		return nil, nil, errMalformed // a password with a slash or a question mark
	case scheme == "zks":
		config = &tls.Config{MinVersion: tls.VersionTLS12}
		opts = append(opts, WithTLS(config))
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, root, hasRoot := strings.Cut(rest, "/")
	if hasRoot && root != "" {
		if root, err = url.PathUnescape(root); err != nil {
			return nil, nil, errMalformed
		}
		opts = append(opts, WithRoot("/"+root))
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		digest, err := credentials(authority[:at])
		if err != nil {
			return nil, nil, err
		}
		opts = append(opts, digest)
		authority = authority[at+1:]
	}
	fromQuery, err := parseQuery(query, config)
	if err != nil {
		return nil, nil, err
	}
	return append(opts, fromQuery...), strings.Split(authority, ","), nil
}

func credentials(userinfo string) (Option, error) {
	user, password, ok := strings.Cut(userinfo, ":")
	switch {
	case strings.ContainsAny(userinfo, "@,"):
		return nil, errMalformed
	case !ok && user != "":
		return nil, errNoPassword
	}
	user, err := url.PathUnescape(user)
	if err != nil {
		return nil, errMalformed
	}
	if password, err = url.PathUnescape(password); err != nil || user == "" {
		return nil, errMalformed
	}
	return WithDigest(user, password), nil
}

func parseQuery(query string, config *tls.Config) ([]Option, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, errMalformed
	}
	if err := storeurl.Take(values, config); err != nil {
		return nil, fmt.Errorf("pathlock/zkstore: %w", err)
	}
	durations := map[string]func(time.Duration) Option{
		"timeout": WithTimeout, "sweep": WithSweep,
	}
	var opts []Option
	for name := range values {
		value := values.Get(name)
		if with, ok := durations[name]; ok {
			d, err := time.ParseDuration(value)
			if err != nil || d < 0 {
				return nil, fmt.Errorf("pathlock/zkstore: the URL's option %s is no duration such as 30s", name)
			}
			opts = append(opts, with(d))
			continue
		}
		if name != "max_packet" {
			return nil, fmt.Errorf("pathlock/zkstore: the URL's option %q is none of timeout, sweep, max_packet", name)
		}
		n, err := strconv.Atoi(value)
		if err != nil || n <= 0 {
			return nil, fmt.Errorf("pathlock/zkstore: the URL's option %s is no positive number", name)
		}
		opts = append(opts, WithMaxPacket(n))
	}
	return opts, nil
}
