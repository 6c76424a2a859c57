package anystore

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/etcdstore"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
	"github.com/pathlock-go/pathlock/store/zkstore"
)

// kind is a kind of lock store. Another one is another entry in [options.kinds].
type kind struct {
	// schemes are what precedes the :// of its URLs.
	schemes []string
	// forms are examples of its URLs, for messages.
	forms []string
	// open opens a store. Its errors quote no more of the URL than its options.
	open func(ctx context.Context, url string, o options) (opened, error)
	// show returns a URL without what is secret.
	show func(url string) string
	// secure puts a password into a URL that has none. Its errors quote nothing of the URL.
	secure func(url, password string) (string, error)
	// trouble says what an error means with which a server of this kind answers, "" if that is not
	// known. ok is false for other errors. A kind without servers has none.
	trouble func(error) (means string, ok bool)
	// alone says that the store cannot be one of a quorum.
	alone bool
}

// opened is an open store, and what closes it.
type opened struct {
	store pathlock.Store
	close func(context.Context) error
}

// kinds returns all kinds, the program's own included.
func (o options) kinds() []kind {
	return append([]kind{
		{
			schemes: []string{"memory"}, forms: []string{"memory://"},
			open: opensLocal(func() pathlock.Store { return memstore.New() }), show: always("memory:// (this process only)"), secure: noPassword,
		},
		{
			schemes: []string{"off"}, forms: []string{"off://"},
			open: opensLocal(func() pathlock.Store { return offstore.New() }), show: always("off:// (no locks)"), secure: noPassword, alone: true,
		},
		{
			schemes: []string{"redis", "redis+cluster", "redis+sentinel", "rediss", "rediss+cluster", "rediss+sentinel"},
			forms:   []string{"redis://host:6379/0", "redis+cluster://h1,h2,h3", "redis+sentinel://master@h1,h2"},
			open:    opens(func(url string) (*redisstore.Store, error) { return redisstore.Open(url) }), show: withoutUser, secure: withPassword, trouble: redisTrouble,
		},
		{
			schemes: []string{"mysql"}, forms: []string{"mysql://user:password@tcp(host:3306)/name"},
			open: openSQL, show: showMySQL, secure: secureMySQL, trouble: sqlTrouble,
		},
		{
			schemes: []string{"postgres", "postgresql"}, forms: []string{"postgres://user:password@host:5432/name"},
			open: openSQL, show: showPostgres, secure: withPassword, trouble: sqlTrouble,
		},
		{
			schemes: []string{"sqlite"}, forms: []string{"sqlite://PATH"},
			open: openSQLite, show: showSQLite, secure: noPassword, trouble: sqlTrouble,
		},
		{
			schemes: []string{"zk", "zks"}, forms: []string{"zk://h1,h2,h3/root"},
			open: opens(func(url string) (*zkstore.Store, error) { return zkstore.Open(url) }), show: withoutUser, secure: withUsersPassword, trouble: zkTrouble,
		},
		{
			schemes: []string{"etcd", "etcds"}, forms: []string{"etcd://h1,h2,h3/prefix"},
			open: opens(func(url string) (*etcdstore.Store, error) { return etcdstore.Open(url) }), show: withoutUser, secure: withUsersPassword, trouble: etcdTrouble,
		},
		{
			schemes: []string{"quorum"}, forms: []string{"quorum:URL|URL|URL"},
			open: openQuorum, show: o.showMembers, secure: o.secureMembers, trouble: quorumTrouble, alone: true,
		},
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
	scheme := schemeOf(url)
	for _, k := range o.kinds() {
		// The examples show what follows the scheme.
		_, slashes, _ := strings.Cut(k.forms[0], ":")
		prefix := scheme + ":"
		if strings.HasPrefix(slashes, "//") {
			prefix += "//"
		}
		if slices.Contains(k.schemes, scheme) && strings.HasPrefix(url, prefix) {
			return k, nil
		}
	}
	return kind{}, errors.New("its scheme is unknown: supported are " + strings.Join(o.forms(), ", "))
}

// opens is how a kind opens its stores that reads the whole URL.
func opens[S interface {
	pathlock.Store
	Close(ctx context.Context) error
}](open func(url string) (S, error)) func(context.Context, string, options) (opened, error) {
	return func(_ context.Context, url string, _ options) (opened, error) {
		store, err := open(url)
		if err != nil {
			return opened{}, err
		}
		return opened{store: store, close: store.Close}, nil
	}
}

// opensLocal is how a kind opens its stores that has no servers, and nothing to set.
func opensLocal(open func() pathlock.Store) func(context.Context, string, options) (opened, error) {
	return func(_ context.Context, url string, _ options) (opened, error) {
		if form := schemeOf(url) + "://"; url != form {
			return opened{}, errors.New("nothing follows " + form)
		}
		store := open()
		return opened{store: store, close: store.Close}, nil
	}
}

// always shows one text for all URLs.
func always(text string) func(string) string { return func(string) string { return text } }

// noPassword refuses passwords.
func noPassword(url, _ string) (string, error) {
	return "", errors.New(schemeOf(url) + ":// is a lock store without a password")
}
