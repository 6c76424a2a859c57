// Package storeurl reads what the URLs of lock stores have in common: the options of TLS, the
// time-out, and ports.
// Its errors quote no address: in a URL with a mistake, a password may stand in its place.
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

// Take takes the options of TLS out of a URL's options, and applies them to config, which is nil
// for a connection without TLS.
//
//	ca_file=ca.pem      the authorities to trust, instead of the system's
//	cert_file=my.pem    this client's certificate, with key_file=my.key
//	server_name=name    the name in the servers' certificates, if it is not their host
func Take(options url.Values, config *tls.Config) error {
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
		return 0, fmt.Errorf("the URL's option %s is no positive duration such as 5s", name)
	}
	return d, nil
}

// TakeNumber takes an option out of a URL's options that is a number, least or more. It is 0 if
// there is none.
func TakeNumber(options url.Values, name string, least int) (int, error) {
	if !options.Has(name) {
		return 0, nil
	}
	n, err := strconv.Atoi(options.Get(name))
	options.Del(name)
	if err != nil || n < least {
		return 0, fmt.Errorf("the URL's option %s is no number from %d on", name, least)
	}
	return n, nil
}

// Cut takes the options called names out of a URL, and leaves the others as they are. What is
// behind its ? may be a password's end: it has no option then.
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

// ErrPort is for an address whose port is none.
var ErrPort = errors.New("a server is host or host:port, with a port from 1 to 65535")

// CheckPort refuses an address that is not host:port.
func CheckPort(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if n, e := strconv.ParseUint(port, 10, 16); err != nil || e != nil || n == 0 || host == "" {
		return ErrPort
	}
	return nil
}
