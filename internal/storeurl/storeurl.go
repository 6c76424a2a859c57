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

// CutTimeout takes the option timeout out of a URL. What is behind its ? may be a password's end:
// it is no option then.
func CutTimeout(rawURL string) (rest string, timeout time.Duration, err error) {
	base, query, _ := strings.Cut(rawURL, "?")
	options, err := url.ParseQuery(query)
	if err != nil || !options.Has("timeout") {
		return rawURL, 0, nil //nolint:nilerr // Whoever reads the rest says what is wrong with it.
	}
	if timeout, err = TakeTimeout(options); err != nil {
		return "", 0, err
	}
	if len(options) > 0 {
		base += "?" + options.Encode()
	}
	return base, timeout, nil
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
