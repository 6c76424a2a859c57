package anystore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// kind is a kind of lock store. Another one is another entry in [options.kinds].
type kind struct {
	// schemes are what precedes the :// of its URLs.
	schemes []string
	// forms are examples of its URLs, for messages.
	forms []string
	// open opens a store. Its errors quote no more of the URL than its options.
	open func(ctx context.Context, url string, o options) (*Store, error)
	// show returns a URL without what is secret. A quorum shows its members instead.
	show func(url string) string
	// secure puts a password into a URL that has none. Its errors quote nothing of the URL. A
	// quorum leaves it to its members.
	secure func(url, password string) (string, error)
	// alone says that the store cannot be one of a quorum.
	alone bool
}

// kinds returns all kinds, the program's own included.
func (o options) kinds() []kind {
	return append([]kind{
		{
			schemes: []string{"memory"}, forms: []string{"memory://"}, show: always("memory:// (this process only)"), secure: noPassword,
			open: opensLocal(func() pathlock.Store { return memstore.New() }),
		},
		{
			schemes: []string{"off"}, forms: []string{"off://"}, show: always("off:// (no locks)"), secure: noPassword, alone: true,
			open: opensLocal(func() pathlock.Store { return offstore.New() }),
		},
		{
			schemes: []string{"redis", "redis+cluster", "redis+sentinel", "rediss", "rediss+cluster", "rediss+sentinel"},
			forms:   []string{"redis://host:6379/0", "redis+cluster://h1,h2,h3", "redis+sentinel://master@h1,h2"}, show: withoutUser, secure: withPassword,
			open: func(_ context.Context, url string, _ options) (*Store, error) { return opened(redisstore.Open(url)) },
		},
		{schemes: []string{"mysql"}, forms: []string{"mysql://user:password@tcp(host:3306)/name"}, show: showSQL, secure: secureMySQL, open: openSQL},
		{schemes: []string{"postgres", "postgresql"}, forms: []string{"postgres://user:password@host:5432/name"}, show: showSQL, secure: withPassword, open: openSQL},
		{
			schemes: []string{"sqlite"}, forms: []string{"sqlite://PATH"}, show: showSQLite, secure: noPassword,
			open: func(ctx context.Context, url string, o options) (*Store, error) {
				return openSQL(ctx, besideData(url), o)
			},
		},
		{
			schemes: []string{"zk", "zks"}, forms: []string{"zk://h1,h2,h3/root"}, show: withoutUser, secure: withUsersPassword,
			open: func(_ context.Context, url string, _ options) (*Store, error) { return opened(zkstore.Open(url)) },
		},
		{
			schemes: []string{"etcd", "etcds"}, forms: []string{"etcd://h1,h2,h3/prefix"}, show: withoutUser, secure: withUsersPassword,
			open: func(_ context.Context, url string, _ options) (*Store, error) { return opened(etcdstore.Open(url)) },
		},
		{schemes: []string{"quorum"}, forms: []string{"quorum:URL|URL|URL"}, alone: true, open: openQuorum},
	}, o.own...)
}

// Forms returns an example of each form of URL that [Open] takes with the same options, for
// messages and help texts.
func Forms(opts ...Option) []string { return newOptions(opts).forms() }

func (o options) forms() []string {
	var forms []string
	for _, k := range o.kinds() {
		forms = append(forms, k.forms...)
	}
	return forms
}

// schemeOf returns what precedes the first colon of a URL.
func schemeOf(url string) string {
	scheme, _, _ := strings.Cut(url, ":")
	return scheme
}

// kindOf returns the kind of store that a URL names. Of other texts, the error quotes nothing.
func (o options) kindOf(url string) (kind, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	for _, k := range o.kinds() {
		if slices.Contains(k.schemes, scheme) && (scheme == "quorum" || strings.HasPrefix(rest, "//")) {
			return k, nil
		}
	}
	return kind{}, errors.New("its scheme is unknown: supported are " + strings.Join(o.forms(), ", "))
}

// schemes are those that URLs may have.
var schemes = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)

// checkSchemes refuses schemes that are none, or that several kinds have.
func (o options) checkSchemes() error {
	taken := options{}.kinds()
	for _, k := range o.own {
		scheme := k.schemes[0]
		switch {
		case !schemes.MatchString(scheme):
			return fmt.Errorf("WithScheme: %q is no scheme", scheme)
		case slices.ContainsFunc(taken, func(other kind) bool { return slices.Contains(other.schemes, scheme) }):
			return fmt.Errorf("WithScheme: the scheme %s is taken", scheme)
		}
		taken = append(taken, k)
	}
	return nil
}

// opensLocal is how a kind opens its stores that has no servers, and nothing to set.
func opensLocal(open func() pathlock.Store) func(context.Context, string, options) (*Store, error) {
	return func(_ context.Context, url string, _ options) (*Store, error) {
		if form := schemeOf(url) + "://"; url != form {
			return nil, errors.New("nothing follows " + form)
		}
		return opened(open(), nil)
	}
}

// openSQL opens a store in a table of a database, which it creates if it is missing and may be
// created.
func openSQL(_ context.Context, url string, o options) (*Store, error) {
	var opts []sqlstore.Option
	if !o.noTables {
		opts = append(opts, sqlstore.WithTables())
	}
	return opened(sqlopen.Open(url, opts...))
}

// besideData returns the URL of the file of locks beside the SQLite file of a URL. A transaction in
// a SQLite file keeps everybody else from writing there, even the locks that the same transaction
// needs. So the path may be that of the file with a program's data, and the locks are in another
// one, for all programs that name it.
func besideData(url string) string {
	path, options, found := strings.Cut(strings.TrimPrefix(url, "sqlite://"), "?")
	if path != "" && path != ":memory:" {
		path += "-locks"
	}
	if found {
		path += "?" + options
	}
	return "sqlite://" + path
}
