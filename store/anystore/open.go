// Package anystore opens the lock store that a URL names, so that a program can change its store
// without changing its code. The program passes the kinds of stores that it wants as options, and
// links no other clients.
//
//	store, err := anystore.Open(ctx, os.Getenv("LOCKS"), redisstore.Kind, etcdstore.Kind)
//	if err != nil {
//		return err // it quotes no more of the URL than its options
//	}
//	defer func() { _ = store.Close(ctx) }()
//	locker := pathlock.New(store)
//
// # The URLs
//
//	memory://                                                this process only
//	off://                                                   no locks at all
//
// With redisstore.Kind:
//
//	redis://[user:password@]host[:port][/db]                 a single Redis
//	redis+cluster://[user:password@]host1,host2              a cluster, by some of its nodes
//	redis+sentinel://[user:password@]name@host1,host2[/db]   the primary called name
//	rediss:// rediss+cluster:// rediss+sentinel://           the same with TLS
//
// With sqlopen.Kind, which has the drivers of all three:
//
//	mysql://user:password@tcp(host:3306)/name                MySQL and MariaDB
//	postgres://user:password@host:5432/name                  PostgreSQL
//	sqlite://PATH                                            the SQLite file PATH-locks
//
// With zkstore.Kind and etcdstore.Kind:
//
//	zk://[user:password@]host1,host2[/root]                  ZooKeeper; zks:// with TLS
//	etcd://[user:password@]host1,host2[/prefix]              etcd; etcds:// with TLS
//
// Several of the others as one:
//
//	quorum:URL|URL|URL[|timeout=1s]                          an odd number of the others
//
// [WithScheme] adds those of a program's own stores.
//
// The documentation of a store's Open says which options may follow as a query. For the SQL stores,
// see sqlopen. With TLS, Redis, ZooKeeper and etcd take the same ones: ca_file, the authorities to
// trust instead of the system's, cert_file and key_file, this client's certificate, and
// server_name, the name in the servers' certificates if it is not their host.
//
// # Databases
//
// The tables of the locks are made before the first use of a store if they are missing, by any
// number of processes at once. For that, the user needs the right to create tables.
//
// A transaction in a SQLite file keeps everybody else from writing there, even the locks that the
// same transaction waits for. So PATH may be the file with a program's data: the locks are in a
// file of their own beside it.
//
// # Passwords
//
// No error and no [Store.String] contains a password. In a user or a password in a URL,
// percent-encode the characters / ? # @ : % , and |, but not in a URL of MySQL. [WithPassword]
// takes the password as it is.
package anystore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/storeurl"
)

// ErrURL is matched by the error for a URL that names no lock store, or that does not fit the
// options.
var ErrURL = errors.New("anystore: not the URL of a lock store")

// Option is a setting of [Open], or a kind of lock store that it takes: redisstore.Kind,
// sqlopen.Kind, zkstore.Kind, etcdstore.Kind, or [WithScheme].
type Option func(*storeurl.Options)

// WithPassword puts a password, not encoded, into a URL that has none. It keeps the password out of
// the URL, which programs like to show. "" changes nothing.
func WithPassword(password string) Option { return func(o *storeurl.Options) { o.Password = password } }

// WithoutTables keeps the store from making tables in a database. It is for programs that only
// look: if there are no tables, no program has used the store.
func WithoutTables() Option { return func(o *storeurl.Options) { o.NoTables = true } }

// WithScheme adds a lock store of the program's own, which open opens for URLs that begin with
// scheme://, also as a member of a quorum. It is an option, not a registration, so that a program
// says in one place which stores it knows, and its imports add none.
//
// The URL's user and password stand before the last @, and [WithPassword] puts a password there,
// percent-encoded. The error of open must quote neither, and names options that it does not know.
//
// An impossible scheme, or one that is taken, makes [Open] fail.
func WithScheme(scheme string, open func(ctx context.Context, url string) (pathlock.Store, error)) Option {
	return func(o *storeurl.Options) {
		o.Kinds = append(o.Kinds, storeurl.Kind{
			Schemes: []string{scheme}, Forms: []string{scheme + "://…"}, Show: showOwn,
			Open: func(ctx context.Context, url string, _ storeurl.Options) (pathlock.Store, error) {
				return open(ctx, url)
			},
		})
	}
}

// showOwn shows a URL of unknown form. If a ? precedes an @, the text in between may be the end of
// a password.
func showOwn(url string) string {
	if base, query, _ := strings.Cut(url, "?"); strings.Contains(query, "@") {
		return storeurl.Scheme(base) + "://"
	}
	return storeurl.WithoutUser(url)
}

// Store is an open lock store of any kind.
type Store struct {
	// Store is the store itself, such as a *sqlstore.Store, for what only that kind can do.
	pathlock.Store

	scheme, where string
	members       []*Store // of a quorum
}

// Open opens the lock store that a URL names. It waits for no server: the first use of the store
// does, and its Ping tells whether it can serve. An etcd with users is the exception: there, Open
// logs in.
//
// The error matches [ErrURL], or [pathlock.ErrUnavailable] if Open has to log in and cannot. It
// quotes only the options of the URL: if another part is missing, the password may be in its place.
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	o := newOptions(opts)
	store, err := openAny(ctx, url, o)
	if err != nil && !errors.Is(err, pathlock.ErrUnavailable) {
		err = fmt.Errorf("%w: %w", ErrURL, err)
	}
	return store, err
}

func openAny(ctx context.Context, url string, o storeurl.Options) (*Store, error) {
	if err := checkSchemes(o.Kinds); err != nil {
		return nil, err
	}
	if members, ok := strings.CutPrefix(url, "quorum:"); ok {
		return openQuorum(ctx, members, o)
	}
	k, err := kindOf(url, o)
	if err != nil {
		return nil, err
	}
	return openKind(ctx, k, url, o)
}

// openKind opens the store of a URL of a kind.
func openKind(ctx context.Context, k storeurl.Kind, url string, o storeurl.Options) (_ *Store, err error) {
	secure, show := k.Secure, k.Show
	if secure == nil {
		secure = storeurl.WithPassword
	}
	if show == nil {
		show = storeurl.WithoutUser
	}
	if o.Password != "" {
		if url, err = secure(url, o.Password); err != nil {
			return nil, err
		}
	}
	store, err := k.Open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	return &Store{Store: store, scheme: storeurl.Scheme(url), where: show(url)}, nil
}

// Scheme returns the scheme of the URL, such as redis+cluster. The scheme off means that the store
// grants everything.
func (s *Store) Scheme() string { return s.scheme }

// Members returns the stores of a quorum, in the order of the URL. Other stores have none.
func (s *Store) Members() []*Store { return s.members }

// String describes the store to people by its URL, without user, password and options.
func (s *Store) String() string { return s.where }

// Close ends the store and its connections. Locks that are still held are left to their leases. If
// ctx ends first, the error matches ctx's error.
func (s *Store) Close(ctx context.Context) error {
	return errors.Join(s.Store.Close(ctx), closeAll(ctx, s.members))
}

func closeAll(ctx context.Context, stores []*Store) error {
	var errs []error
	for _, store := range stores {
		errs = append(errs, store.Close(ctx))
	}
	return errors.Join(errs...)
}
