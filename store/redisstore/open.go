package redisstore

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Open returns a store on the Redis that a URL names, with a client of its own, which [Store.Close]
// closes. It does not connect: the first command does, and [Store.Ping] tells whether it can.
//
//	redis://[user:password@]host[:port][/db]                           a single node; rediss:// with TLS
//	redis+cluster://[user:password@]host1[:port],host2[:port]          a cluster, by some of its nodes
//	redis+sentinel://[user:password@]name@host1[:port],host2[:port][/db]  the primary called name, by its sentinels
//
// Options of go-redis may follow as a query, such as ?pool_size=20&dial_timeout=3s. Users and
// passwords are percent-encoded, and are those of Redis; where the sentinels have their own, they
// are the options sentinel_username and sentinel_password. A user without a password is an error:
// for a user with nopass, write any. Ports default to 6379, and to 26379 for sentinels.
func Open(rawURL string, opts ...Option) (*Store, error) {
	client, err := openClient(rawURL)
	if err != nil {
		return nil, err
	}
	own := client
	if c, ok := client.(sentinelClient); ok {
		client = c.Client
	}
	s := New(client, opts...)
	s.own = own
	return s, nil
}

// errNoPrimary is for a URL that does not name the primary, or has a password with a slash.
var errNoPrimary = errors.New("redisstore: a redis+sentinel URL names the primary before the sentinels: name@host1,host2; in a user or password, write / ? # @ : % as %2F %3F %23 %40 %3A %25")

// errMalformed quotes nothing of the URL: a password may be anywhere in a malformed one.
var errMalformed = errors.New("redisstore: not a valid redis URL: see Open for its form; in a user or password, write / ? # @ : % as %2F %3F %23 %40 %3A %25")

// errNoPassword is for a URL with a user and no password. The client would log nobody in, and work
// with the rights of the default user.
var errNoPassword = errors.New("redisstore: the URL names a user without a password; for a user with nopass, give any")

// loggedIn refuses a user without a password.
func loggedIn(user, password string) error {
	if user != "" && password == "" {
		return errNoPassword
	}
	return nil
}

// dialTimeout is how long dialling may take, unless the URL has another dial_timeout. For so long,
// a host that has gone holds up the client's pool, and a cluster's look at who has which slots.
const dialTimeout = time.Second

// dialBounds returns how long to dial and how often, where the URL does not say.
func dialBounds(timeout time.Duration, tries int) (time.Duration, int) {
	if timeout == 0 {
		timeout = dialTimeout
	}
	return timeout, max(tries, 1)
}

func openClient(rawURL string) (redis.UniversalClient, error) {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok {
		return nil, errors.New("redisstore: the URL has no scheme: redis, rediss, redis+cluster or redis+sentinel")
	}
	// Errors of the parsers below quote parts of the URL, where passwords may be: they are not
	// passed on. A # is never right, and would have the parsers overlook what follows.
	if strings.ContainsRune(rawURL, '#') {
		return nil, errMalformed
	}
	switch scheme {
	case "redis", "rediss":
		o, err := redis.ParseURL(rawURL)
		if err != nil {
			return nil, errMalformed
		}
		if err := loggedIn(o.Username, o.Password); err != nil {
			return nil, err
		}
		o.ContextTimeoutEnabled = true
		o.DialTimeout, o.DialerRetries = dialBounds(o.DialTimeout, o.DialerRetries)
		return redis.NewClient(o), nil
	case "redis+cluster":
		u, err := splitHosts(rest, "6379")
		if err != nil {
			return nil, err
		}
		o, err := redis.ParseClusterURL(u.goRedis(nil))
		if err != nil || u.name != "" || u.db != "" {
			return nil, errMalformed
		}
		if err := loggedIn(o.Username, o.Password); err != nil {
			return nil, err
		}
		o.ContextTimeoutEnabled = true
		o.DialTimeout, o.DialerRetries = dialBounds(o.DialTimeout, o.DialerRetries)
		return redis.NewClusterClient(o), nil
	case "redis+sentinel":
		u, err := splitHosts(rest, "26379")
		if err != nil {
			return nil, err
		}
		// One part before the hosts is the name, two are the user and the name.
		if u.name == "" {
			u.name, u.user = u.user, ""
		}
		if u.name == "" {
			return nil, errNoPrimary
		}
		query, err := url.ParseQuery(u.query)
		if err != nil {
			return nil, errMalformed
		}
		sentinelUser, sentinelPassword := query.Get("sentinel_username"), query.Get("sentinel_password")
		query.Del("sentinel_username")
		query.Del("sentinel_password")
		u.query = query.Encode()
		first := u
		first.hosts = u.hosts[:1]
		o, err := redis.ParseURL(first.goRedis(nil))
		if err != nil {
			return nil, errMalformed
		}
		if err := cmp.Or(loggedIn(o.Username, o.Password), loggedIn(sentinelUser, sentinelPassword)); err != nil {
			return nil, err
		}
		o.ContextTimeoutEnabled = true
		o.DialTimeout, o.DialerRetries = dialBounds(o.DialTimeout, o.DialerRetries)
		return newSentinelClient(u.name, u.hosts, o, redis.Options{Username: sentinelUser, Password: sentinelPassword}), nil
	default:
		return nil, errors.New("redisstore: the URL's scheme is not redis, rediss, redis+cluster or redis+sentinel")
	}
}

// hostsURL is a URL with several hosts, which net/url does not read.
type hostsURL struct {
	user  string // user:password, as written
	name  string
	hosts []string
	db    string
	query string
}

// splitHosts reads what follows the scheme.
func splitHosts(s, port string) (hostsURL, error) {
	var u hostsURL
	s, u.query, _ = strings.Cut(s, "?")
	s, u.db, _ = strings.Cut(s, "/")
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		u.user, s = s[:i], s[i+1:]
		if i := strings.LastIndexByte(u.user, '@'); i >= 0 {
			u.user, u.name = u.user[:i], u.user[i+1:]
		}
	}
	for host := range strings.SplitSeq(s, ",") {
		if host == "" {
			return u, fmt.Errorf("redisstore: a URL with an empty host")
		}
		if !strings.Contains(host, ":") || strings.HasSuffix(host, "]") {
			host += ":" + port
		}
		u.hosts = append(u.hosts, host)
	}
	return u, nil
}

// goRedis writes u in the way of go-redis: the further hosts are parameters called addr.
func (u hostsURL) goRedis(extra url.Values) string {
	for _, host := range u.hosts[1:] {
		if extra == nil {
			extra = url.Values{}
		}
		extra.Add("addr", host)
	}
	var b strings.Builder
	b.WriteString("redis://")
	if u.user != "" {
		b.WriteString(u.user + "@")
	}
	b.WriteString(u.hosts[0])
	if u.db != "" {
		b.WriteString("/" + u.db)
	}
	b.WriteString("?" + u.query)
	if u.query != "" && len(extra) > 0 {
		b.WriteString("&")
	}
	b.WriteString(extra.Encode())
	return b.String()
}
