package storeurl

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// Servers is what a URL says that names several servers, which net/url does not read:
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

// ParseServers reads a URL whose servers have a default port.
func ParseServers(rawURL, scheme, port string) (Servers, error) {
	var s Servers
	given, rest, ok := strings.Cut(rawURL, "://")
	switch {
	case !ok, given != scheme && given != scheme+"s":
		return s, fmt.Errorf("the URL's scheme is not %s or %[1]ss", scheme)
	case given != scheme:
		s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if strings.Contains(rest, "#") || strings.LastIndexByte(rest, '@') > strings.IndexAny(rest+"/", "/?") {
		return s, errMalformed // they are a password's
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		if err := s.login(authority[:at]); err != nil {
			return s, err
		}
		authority = authority[at+1:]
	}
	var err error
	if s.Path, err = url.PathUnescape(path); err != nil {
		return s, errMalformed
	}
	if s.Options, err = url.ParseQuery(query); err != nil {
		return s, errMalformed
	}
	if s.Addrs, err = Addrs(strings.Split(authority, ","), port); err != nil {
		return s, err
	}
	return s, Take(s.Options, s.TLS)
}

// login reads user:password.
func (s *Servers) login(userinfo string) error {
	user, password, _ := strings.Cut(userinfo, ":")
	var first, second error
	s.User, first = url.PathUnescape(user)
	s.Password, second = url.PathUnescape(password)
	switch {
	case first != nil, second != nil, s.User == "", strings.ContainsAny(userinfo, "@,"):
		return errMalformed
	case s.Password == "":
		return errNoPassword
	}
	return nil
}

// Addrs returns servers as host:port, with a default port where there is none.
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

// Duration takes an option such as sweep=30s out of the URL's. It is false if there is none.
func (s *Servers) Duration(name string) (d time.Duration, ok bool, err error) {
	if ok = s.Options.Has(name); ok {
		if d, err = time.ParseDuration(s.Options.Get(name)); err != nil || d < 0 {
			err = fmt.Errorf("the URL's option %s is no duration such as 30s", name)
		}
	}
	s.Options.Del(name)
	return d, ok, err
}

// Unknown returns an error if there are options that nobody has taken. It names those that there
// are.
func (s *Servers) Unknown(known string) error {
	for name := range s.Options {
		return fmt.Errorf("the URL's option %q is none of %s", name, known)
	}
	return nil
}
