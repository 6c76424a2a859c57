package sqlopen

import (
	"context"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/storeurl"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// Kind is the option with which anystore.Open takes the URLs of [Open]. It makes the tables where
// they are missing, unless anystore.WithoutTables says otherwise, and keeps the locks of
// sqlite://PATH in the file PATH-locks.
func Kind(o *storeurl.Options) {
	o.Kinds = append(o.Kinds,
		storeurl.Kind{
			Schemes: []string{"mysql"}, Forms: []string{"mysql://user:password@tcp(host:3306)/name"},
			Open: openStore, Show: show, Secure: secureMySQL,
		},
		storeurl.Kind{
			Schemes: []string{"postgres", "postgresql"}, Forms: []string{"postgres://user:password@host:5432/name"},
			Open: openStore, Show: show,
		},
		storeurl.Kind{
			Schemes: []string{"sqlite"}, Forms: []string{"sqlite://PATH"},
			Open: func(ctx context.Context, url string, o storeurl.Options) (pathlock.Store, error) {
				return openStore(ctx, besideData(url), o)
			},
			Show: showSQLite, Secure: storeurl.NoPassword,
		},
	)
}

// openStore opens a store in a table of a database, which it creates if it is missing and may be
// created.
func openStore(_ context.Context, url string, o storeurl.Options) (pathlock.Store, error) {
	var opts []sqlstore.Option
	if !o.NoTables {
		opts = append(opts, sqlstore.WithTables())
	}
	return Open(url, opts...)
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

// show shows the address and the database.
func show(url string) string {
	d, err := Parse(url)
	if err != nil {
		return storeurl.Scheme(url) + "://"
	}
	return d.String()
}

// showSQLite shows the file of the locks.
func showSQLite(url string) string {
	file, _, _ := strings.Cut(besideData(url), "?")
	return file
}

// secureMySQL puts a password into a DSN, which does not encode it.
func secureMySQL(url, password string) (string, error) {
	dsn := strings.TrimPrefix(url, "mysql://")
	// As the driver reads it: what precedes the last slash ends its user with the last @.
	slash := strings.LastIndexByte(dsn, '/')
	at := strings.LastIndexByte(dsn[:max(slash, 0)], '@')
	switch {
	case at <= 0:
		return "", storeurl.ErrNoUser
	case strings.Contains(dsn[:at], ":"):
		return "", storeurl.ErrTwoPasswords
	}
	return "mysql://" + dsn[:at] + ":" + password + dsn[at:], nil
}
