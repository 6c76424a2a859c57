package redisstore

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock/internal/storeurl"
)

// Open returns a store on the Redis that a URL names, with a client of its own, which [Store.Close]
// closes. It does not connect: the first command does, and [Store.Ping] tells whether it can.
//
//	redis://[user:password@]host[:port][/db]                           a single node
//	redis+cluster://[user:password@]host1[:port],host2[:port]          a cluster, by some of its nodes
//	redis+sentinel://[user:password@]name@host1[:port],host2[:port][/db]  the primary called name, by its sentinels
//
// With rediss in the place of redis, every connection is one with TLS, those to sentinels too.
//
// Options of go-redis may follow as a query, such as ?pool_size=20&dial_timeout=3s, and timeout,
// such as 5s, for [WithTimeout]. Users and passwords are percent-encoded, and are those of Redis;
// where the sentinels have their own, they are the options sentinel_username and sentinel_password.
// A user without a password is an error: for a user with nopass, write any. Ports default to 6379,
// and to 26379 for sentinels.
//
// With rediss, the options ca_file, the authorities to trust instead of the system's, cert_file and
// key_file, this client's certificate, and server_name, the name in the server's certificate if it
// is not its host, may follow, too.
//
// The first call has what go-redis logs go to [slog.Default]. A program that wants it elsewhere
// calls redis.SetLogger afterwards.
func Open(rawURL string, opts ...Option) (*Store, error) {
	rawURL, timeout, err := storeurl.CutTimeout(rawURL)
	if err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	client, err := openClient(rawURL)
	if err != nil {
		return nil, err
	}
	logOnce()
	own := client
	if c, ok := client.(sentinelClient); ok {
		client = c.Client
	}
	s := New(client, append([]Option{WithTimeout(timeout)}, opts...)...)
	s.own = own
	return s, nil
}

// errNoPrimary is for a URL that does not name the primary, or has a password with a slash.
var errNoPrimary = errors.New("redisstore: a redis+sentinel URL names the primary before the sentinels: name@host1,host2; in a user or password, write / ? # @ : % as %2F %3F %23 %40 %3A %25")

// errScheme is for a URL of something else.
var errScheme = errors.New("redisstore: the URL's scheme is not redis, redis+cluster or redis+sentinel, or one of these with rediss")

// errMalformed quotes nothing of the URL: a password may be anywhere in a malformed one.
var errMalformed = errors.New("redisstore: not a valid redis URL: see Open for its form; in a user or password, write / ? # @ : % as %2F %3F %23 %40 %3A %25")

// errNoPassword is for a URL with a user and no password. The client would log nobody in, and work
// with the rights of the default user.
var errNoPassword = errors.New("redisstore: the URL names a user without a password; for a user with nopass, give any")

// dialTimeout is how long dialling may take, unless the URL has another dial_timeout. For so long,
// a host that has gone holds up the client's pool, and a cluster's look at who has which slots.
const dialTimeout = time.Second

func openClient(rawURL string) (redis.UniversalClient, error) {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok {
		return nil, errScheme
	}
	if strings.ContainsRune(rawURL, '#') { // never right, and hides what follows from the parsers
		return nil, errMalformed
	}
	rest, query, _ := strings.Cut(rest, "?")
	r := reader{"redis://", !strings.Contains(rest[strings.IndexByte(rest+"/", '/'):]+query, "@")}
	options, err := url.ParseQuery(query)
	if err != nil {
		return nil, errMalformed
	}
	var config *tls.Config
	topology := strings.Replace(scheme, "rediss", "redis", 1)
	if topology != scheme {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
		r.scheme = "rediss://"
	}
	if err := storeurl.Take(options, config); err != nil {
		return nil, fmt.Errorf("redisstore: %w", err)
	}
	switch topology {
	case "redis":
		return openSingle(r, rest, options, config)
	case "redis+cluster":
		return openCluster(r, rest, options, config)
	case "redis+sentinel":
		return openSentinel(r, rest, options, config)
	default:
		return nil, errScheme
	}
}

func openSingle(r reader, rest string, options url.Values, config *tls.Config) (redis.UniversalClient, error) {
	u, err := splitHosts(rest, "6379")
	if err != nil {
		return nil, err
	}
	if u.name != "" || len(u.hosts) > 1 {
		return nil, errMalformed
	}
	o, err := readNode(r, u, options, config)
	if err := cmp.Or(err, u.checkPorts()); err != nil {
		return nil, err
	}
	return redis.NewClient(o), nil
}

func openCluster(r reader, rest string, options url.Values, config *tls.Config) (redis.UniversalClient, error) {
	u, err := splitHosts(rest, "6379")
	if err := cmp.Or(err, u.checkPorts()); err != nil {
		return nil, err
	}
	for _, host := range u.hosts[1:] {
		options.Add("addr", host)
	}
	o, err := read(r, redis.ParseClusterURL, u.first(), "?"+options.Encode())
	if err != nil {
		return nil, err
	}
	if u.name != "" || u.db != "" {
		return nil, errMalformed
	}
	o.ContextTimeoutEnabled = true
	if err := settle(config, o.Username, o.Password, &o.TLSConfig, &o.DialTimeout, &o.DialerRetries); err != nil {
		return nil, err
	}
	return redis.NewClusterClient(o), nil
}

func openSentinel(r reader, rest string, options url.Values, config *tls.Config) (redis.UniversalClient, error) {
	u, err := splitHosts(rest, "26379")
	if err := cmp.Or(err, u.checkPorts()); err != nil {
		return nil, err
	}
	// One part before the hosts is the name, two are the user and the name.
	if u.name == "" {
		u.name, u.user = u.user, ""
	}
	// A name has no colon: that is a user with a password, and the name is missing.
	if u.name == "" || strings.ContainsRune(u.name, ':') {
		return nil, errNoPrimary
	}
	auth := redis.Options{Username: options.Get("sentinel_username"), Password: options.Get("sentinel_password")}
	if auth.Username != "" && auth.Password == "" {
		return nil, errNoPassword
	}
	options.Del("sentinel_username")
	options.Del("sentinel_password")
	o, err := readNode(r, u, options, config)
	if err != nil {
		return nil, err
	}
	return newSentinelClient(u.name, u.hosts, o, auth), nil
}

// readNode reads the options of a client that serves one node at a time.
func readNode(r reader, u hostsURL, options url.Values, config *tls.Config) (*redis.Options, error) {
	o, err := read(r, redis.ParseURL, u.first(), "/"+u.db+"?"+options.Encode())
	if err != nil {
		return nil, err
	}
	o.ContextTimeoutEnabled = true
	return o, settle(config, o.Username, o.Password, &o.TLSConfig, &o.DialTimeout, &o.DialerRetries)
}

// settle sets what all clients have in common. What go-redis reads of TLS from a URL has the first
// host's name, which the other nodes have not; of that, only skip_verify counts.
func settle(config *tls.Config, user, password string, read **tls.Config, timeout *time.Duration, tries *int) error {
	if user != "" && password == "" {
		return errNoPassword
	}
	if config != nil && *read != nil {
		config.InsecureSkipVerify = (*read).InsecureSkipVerify
	}
	*read, *timeout, *tries = config, cmp.Or(*timeout, dialTimeout), max(*tries, 1)
	return nil
}

// reader says how go-redis has to read a URL, and whether what follows the hosts may be quoted.
type reader struct {
	scheme string
	quotes bool
}

// read has go-redis read a URL. Its errors quote parts of the URL, and passwords may be anywhere in
// a malformed one. So only what is wrong behind the hosts is passed on, if no password is there.
func read[O any](r reader, parse func(string) (O, error), hosts, rest string) (O, error) {
	o, err := parse(r.scheme + hosts + rest)
	if err != nil && r.quotes {
		if _, err := parse(r.scheme + "host" + rest); err != nil {
			return o, fmt.Errorf("redisstore: %w", err)
		}
	}
	if err != nil {
		return o, errMalformed
	}
	return o, nil
}

// hostsURL is a URL with several hosts, which net/url does not read.
type hostsURL struct {
	user  string // user:password, as written
	name  string
	hosts []string
	db    string
}

// splitHosts reads what is between the scheme and the options.
func splitHosts(s, port string) (hostsURL, error) {
	var u hostsURL
	s, u.db, _ = strings.Cut(s, "/")
	if strings.Contains(u.db, "@") {
		return u, errMalformed
	}
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		u.user, s = s[:i], s[i+1:]
		if i := strings.LastIndexByte(u.user, '@'); i >= 0 {
			u.user, u.name = u.user[:i], u.user[i+1:]
		}
	}
	for host := range strings.SplitSeq(s, ",") {
		if !strings.Contains(host, ":") || strings.HasSuffix(host, "]") {
			host += ":" + port
		}
		u.hosts = append(u.hosts, host)
	}
	return u, nil
}

func (u hostsURL) checkPorts() error {
	for _, host := range u.hosts {
		if err := storeurl.CheckPort(host); err != nil {
			return fmt.Errorf("redisstore: %w", err)
		}
	}
	return nil
}

// first writes the user and the first host.
func (u hostsURL) first() string {
	if u.user != "" {
		return u.user + "@" + u.hosts[0]
	}
	return u.hosts[0]
}
