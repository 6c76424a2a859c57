// Package storeurl reads the common parts of lock store URLs: several servers with their ports,
// users and passwords, the options of TLS, and numbers and times. Its errors quote no address: in a
// URL with a mistake, a password may stand in its place.
package storeurl

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Servers is what a URL says that names several servers:
//
//	scheme://[user:password@]host1[:port],host2[:port]…[/path][?options]    or schemes:// for TLS
type Servers struct {
	User, Password string
	// Addrs are the servers, each host:port, and Path what follows them, without its first slash.
	Addrs []string
	Path  string
	// TLS is nil for connections without.
	TLS *tls.Config
	// Options are those that are not about TLS.
	Options url.Values
}

// These errors quote nothing of the URL: a password may be anywhere in a malformed one.
var (
	errMalformed  = errors.New("not a valid URL: see Open for its form; in a user or password, write / ? # @ : , % as %2F %3F %23 %40 %3A %2C %25")
	errNoPassword = errors.New("the URL names a user without a password")
)

// ErrPort is for an address without a valid port.
var ErrPort = errors.New("a server is host or host:port, with a port from 1 to 65535")

// ParseServers reads a URL whose servers have a default port.
func ParseServers(rawURL, scheme, port string) (s Servers, err error) {
	given, rest, ok := strings.Cut(rawURL, "://")
	switch {
	case !ok, given != scheme && given != scheme+"s":
		return s, fmt.Errorf("the URL's scheme is not %s or %[1]ss", scheme)
	case given != scheme:
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	end := strings.IndexAny(rest+"/", "/?")
	hosts := strings.LastIndexByte(rest[:end], '@') + 1
	user := rest[:max(hosts-1, 0)]
	// net/url reads one host. A # or an @ behind the hosts is a password's.
	u, err := url.Parse("x://" + rest[:hosts] + "host" + rest[end:])
	if err != nil || strings.Contains(rest, "#") || strings.Contains(rest[end:], "@") || strings.ContainsAny(user, "@,") {
		return s, errMalformed
	}
	if hosts > 0 {
		s.User = u.User.Username()
		s.Password, _ = u.User.Password()
		switch {
		case s.User == "":
			return s, errMalformed
		case s.Password == "":
			return s, errNoPassword
		}
	}
	s.Path = strings.TrimPrefix(u.Path, "/")
	if s.Options, err = url.ParseQuery(u.RawQuery); err != nil {
		return s, errMalformed
	}
	if s.Addrs, err = Addrs(strings.Split(rest[hosts:end], ","), port); err != nil {
		return s, err
	}
	return s, takeTLS(s.Options, s.TLS)
}

// Addrs returns servers as host:port, with a default port for those without one.
func Addrs(servers []string, port string) ([]string, error) {
	addrs := make([]string, 0, len(servers))
	for _, server := range servers {
		host, given, err := net.SplitHostPort(server)
		if err != nil {
			host, given = strings.Trim(server, "[]"), port
		}
		addr := net.JoinHostPort(host, given)
		if err := CheckPort(addr); err != nil {
			return nil, err
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}

// CheckPort refuses an address that is not host:port.
func CheckPort(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if n, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil || n == 0 || host == "" {
		return ErrPort
	}
	return nil
}

// takeTLS takes the options of TLS out of a URL's options, and applies them to config, which is nil
// for a connection without TLS.
//
//	ca_file=ca.pem      the authorities to trust, instead of the system's
//	cert_file=my.pem    this client's certificate, with key_file=my.key
//	server_name=name    the name in the servers' certificates, if it is not their host
func takeTLS(options url.Values, config *tls.Config) error {
	taken := map[string]string{}
	for _, name := range []string{"ca_file", "cert_file", "key_file", "server_name"} {
		if options.Has(name) && config == nil {
			return fmt.Errorf("the URL's option %s is for connections with TLS", name)
		}
		taken[name] = options.Get(name)
		options.Del(name)
	}
	if name := taken["server_name"]; name != "" {
		config.ServerName = name
	}
	if file := taken["ca_file"]; file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("reading the URL's ca_file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("no certificate in the URL's ca_file %s", file)
		}
	}
	cert, key := taken["cert_file"], taken["key_file"]
	if (cert == "") != (key == "") {
		return errors.New("the URL's options cert_file and key_file belong together")
	}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return fmt.Errorf("reading the URL's cert_file and key_file: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return nil
}

// TakeTimeout takes the option timeout out of a URL's options, such as timeout=5s. It is 0 if there
// is none.
func TakeTimeout(options url.Values) (time.Duration, error) {
	const name = "timeout"
	if !options.Has(name) {
		return 0, nil
	}
	d, err := time.ParseDuration(options.Get(name))
	options.Del(name)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("the URL's option %s is not a positive duration such as 5s", name)
	}
	return d, nil
}

// TakeNumber takes an option that is a number, least or more, out of a URL's options. It is 0 if
// there is none.
func TakeNumber(options url.Values, name string, least int) (int, error) {
	if !options.Has(name) {
		return 0, nil
	}
	n, err := strconv.Atoi(options.Get(name))
	options.Del(name)
	if err != nil || n < least {
		return 0, fmt.Errorf("the URL's option %s is not a number from %d up", name, least)
	}
	return n, nil
}

// Cut takes the options called names out of a URL, and leaves the others as they are. What follows
// its ? may be the end of a password: then it has no options.
func Cut(rawURL string, names ...string) (rest string, taken url.Values) {
	taken = url.Values{}
	at := strings.LastIndexByte(rawURL, '?')
	if at < 0 || strings.Contains(rawURL[at:], "@") {
		return rawURL, taken
	}
	base, query := rawURL[:at], rawURL[at+1:]
	separator := "?"
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		value, err := url.QueryUnescape(value)
		switch {
		case err == nil && slices.Contains(names, name):
			taken.Add(name, value)
		case pair != "":
			base += separator + pair
			separator = "&"
		}
	}
	return base, taken
}

// Unknown returns an error if there are options that nobody has taken. The error lists the known
// ones.
func (s *Servers) Unknown(known string) error {
	for name := range s.Options {
		return fmt.Errorf("the URL's option %q is none of %s", name, known)
	}
	return nil
}
