package redisstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/storeurl"
)

// Open returns a store on the Redis that a URL names, with a client of its own, which Close closes.
// It does not connect: the first command does, and Ping tells whether it can.
//
//	redis://[user:password@]host[:port][/db]                           a single node
//	redis+cluster://[user:password@]host1[:port],host2[:port]          a cluster, by some of its nodes
//	redis+sentinel://[user:password@]name@host1[:port],host2[:port][/db]  the primary called name, by its sentinels
//
// With rediss in the place of redis, every connection is one with TLS, those to sentinels too.
//
// Options of go-redis may follow as a query, such as ?pool_size=20&dial_timeout=3s, and those of
// the store: timeout, such as 5s, for [WithTimeout], prefix for [WithPrefix], max_claims for
// [WithMaxClaims] and max_waiters for [WithMaxWaiters]. Others are an error that names them.
//
// Users and passwords are percent-encoded, and are those of Redis. If the sentinels have their own,
// give those by the options sentinel_username and sentinel_password. A user without a password is
// an error: for a user with nopass, write any. Ports default to 6379, and to 26379 for sentinels.
//
// With rediss, the options ca_file, the authorities to trust instead of the system's, cert_file and
// key_file, this client's certificate, and server_name, the name in the server's certificate if it
// is not its host, may follow, too.
//
// The first call sends what go-redis logs to [slog.Default]. A program that wants it elsewhere
// calls redis.SetLogger afterwards.
func Open(rawURL string, opts ...Option) (pathlock.Store, error) {
	client, fromURL, err := openClient(rawURL)
	if err != nil {
		return nil, err
	}
	logOnce()
	own := client
	if c, ok := client.(sentinelClient); ok {
		client = c.Client
	}
	s := onClient(client, append(fromURL, opts...))
	s.own = own
	return s, nil
}

// Kind is the option with which anystore.Open takes the URLs of [Open].
func Kind(o *storeurl.Options) {
	o.Kinds = append(o.Kinds, storeurl.Kind{
		Schemes: []string{"redis", "redis+cluster", "redis+sentinel", "rediss", "rediss+cluster", "rediss+sentinel"},
		Forms:   []string{"redis://host:6379/0", "redis+cluster://h1,h2,h3", "redis+sentinel://master@h1,h2"},
		Open:    func(_ context.Context, url string, _ storeurl.Options) (pathlock.Store, error) { return Open(url) },
	})
}

var (
	errScheme = errors.New("redisstore: the URL's scheme is not redis, redis+cluster or redis+sentinel, or one of these with rediss")
	// errNoPrimary quotes nothing of the URL: a password may be anywhere in a malformed one.
	errNoPrimary  = errors.New("redisstore: a redis+sentinel URL names the primary before the sentinels: name@host1,host2")
	errSeveral    = errors.New("redisstore: a redis URL names one host; see Open for those of a cluster and of sentinels")
	errNoDatabase = errors.New("redisstore: a cluster has no databases with numbers")
)

// dialTimeout is how long dialling may take, unless the URL has another dial_timeout. A host that
// is gone holds up the client's pool for that long, and also a cluster client that looks up which
// node has which slots.
const dialTimeout = time.Second

// redirects is how often a command is sent again while a slot moves, in pauses of up to half a
// second: some keys of a tree are on one node then and some on another, and neither runs a script.
const redirects = 16

func openClient(rawURL string) (redis.UniversalClient, []Option, error) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	kind, port, primary := strings.Replace(scheme, "rediss", "redis", 1), "6379", ""
	switch {
	case !slices.Contains([]string{"redis", "redis+cluster", "redis+sentinel"}, kind):
		return nil, nil, errScheme
	case kind == "redis+sentinel":
		port = "26379"
		if primary, rest = cutPrimary(rest); primary == "" {
			return nil, nil, errNoPrimary
		}
	}
	rest = strings.TrimPrefix(rest, ":@") // a program wrote it that has two empty settings for these
	if strings.HasPrefix(rest, ":") {     // a password without a user is the default user's
		rest = "default" + rest
	}
	tls := "s"
	if kind == scheme {
		tls = ""
	}
	u, err := storeurl.ParseServers(kind+tls+"://"+rest, kind, port)
	if err != nil {
		return nil, nil, fmt.Errorf("redisstore: %w", err)
	}
	opts, err := takeOptions(u.Options)
	if err != nil {
		return nil, nil, fmt.Errorf("redisstore: %w", err)
	}
	auth := redis.Options{Username: u.Options.Get("sentinel_username"), Password: u.Options.Get("sentinel_password")}
	if kind == "redis+sentinel" {
		u.Options.Del("sentinel_username")
		u.Options.Del("sentinel_password")
	}
	// The rest is for go-redis, which sees no password, so that its errors may quote what it sees.
	read := "redis" + tls + "://host/" + u.Path + "?" + u.Options.Encode()
	if kind == "redis+cluster" {
		o, err := redis.ParseClusterURL(read)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("redisstore: %w", err)
		case u.Path != "":
			return nil, nil, errNoDatabase
		}
		o.Addrs, o.Username, o.Password, o.ContextTimeoutEnabled = u.Addrs, u.User, u.Password, true
		o.DialTimeout, o.DialerRetries = cmp.Or(o.DialTimeout, dialTimeout), max(o.DialerRetries, 1)
		o.MaxRedirects = cmp.Or(o.MaxRedirects, redirects)
		if u.TLS != nil {
			u.TLS.InsecureSkipVerify = o.TLSConfig.InsecureSkipVerify
		}
		o.TLSConfig = u.TLS // what go-redis reads has the host's name
		return redis.NewClusterClient(o), opts, nil
	}
	o, err := redis.ParseURL(read)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("redisstore: %w", err)
	case auth.Username != "" && auth.Password == "":
		return nil, nil, errors.New("redisstore: the URL names a sentinel_username without a password")
	case kind == "redis" && len(u.Addrs) > 1:
		return nil, nil, errSeveral
	}
	o.Addr, o.Username, o.Password, o.ContextTimeoutEnabled = u.Addrs[0], u.User, u.Password, true
	o.DialTimeout, o.DialerRetries = cmp.Or(o.DialTimeout, dialTimeout), max(o.DialerRetries, 1)
	if u.TLS != nil {
		u.TLS.InsecureSkipVerify = o.TLSConfig.InsecureSkipVerify
	}
	o.TLSConfig = u.TLS
	if kind == "redis+sentinel" {
		return newSentinelClient(primary, u.Addrs, o, auth), opts, nil
	}
	return redis.NewClient(o), opts, nil
}

// takeOptions takes the options of the store out of a URL's.
func takeOptions(options url.Values) ([]Option, error) {
	timeout, late := storeurl.TakeTimeout(options)
	claims, few := storeurl.TakeNumber(options, "max_claims", 1)
	waiters, none := storeurl.TakeNumber(options, "max_waiters", 1)
	opts := []Option{WithTimeout(timeout), WithMaxClaims(claims), WithMaxWaiters(waiters)}
	if options.Has("prefix") {
		opts = append(opts, WithPrefix(options.Get("prefix")))
		options.Del("prefix")
	}
	return opts, cmp.Or(late, few, none)
}

// cutPrimary takes the primary's name out of [user:password@]name@hosts. It is empty if there is
// none.
func cutPrimary(rest string) (name, without string) {
	authority := rest[:strings.IndexAny(rest+"/", "/?#")]
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return "", rest
	}
	begin := strings.LastIndexByte(authority[:at], '@') + 1
	if name = authority[begin:at]; strings.Contains(name, ":") { // a user and a password
		return "", rest
	}
	return name, rest[:begin] + rest[at+1:]
}

// logOnce sends what go-redis logs to the program's log, and not to standard error. The setting is
// that of the whole process, so it is made once: a program that wants another makes it after its
// first [Open].
var logOnce = sync.OnceFunc(func() { redis.SetLogger(logger{}) })

// logger writes to [slog.Default].
type logger struct{}

// Printf implements the interface that [redis.SetLogger] takes.
func (logger) Printf(ctx context.Context, format string, values ...any) {
	slog.WarnContext(ctx, "redis client", "message", fmt.Sprintf(format, values...))
}
