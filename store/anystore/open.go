package anystore

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// ErrURL is matched by the error for a URL that names no lock store, or that does not go with the
// options.
var ErrURL = errors.New("anystore: not the URL of a lock store")

// Option is a setting of [Open].
type Option func(*options)

type options struct {
	password string
	noTables bool
	own      []kind // see WithScheme
}

func newOptions(opts []Option) options {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// WithPassword puts a password, not encoded, into a URL that has none. It keeps the password out of
// the URL, which programs like to show. "" changes nothing.
func WithPassword(password string) Option {
	return func(o *options) { o.password = password }
}

// WithoutTables has the store make no tables in a database. It is for programs that only look:
// where there are none, no program has used the store.
func WithoutTables() Option {
	return func(o *options) { o.noTables = true }
}

// WithScheme adds a lock store of the program's own, which open opens for URLs that begin with
// scheme://, also as a member of a quorum. It is an option and no registration, so that a program
// says in one place which stores it knows, and what it imports adds none.
//
// The URL's user and password stand before the last @, and [WithPassword] puts a password there,
// percent-encoded. The error of open quotes neither, and names options that it does not know.
//
// A scheme that is none, or that is taken, makes [Open] fail.
func WithScheme(scheme string, open func(ctx context.Context, url string) (pathlock.Store, error)) Option {
	return func(o *options) {
		o.own = append(o.own, kind{
			schemes: []string{scheme}, forms: []string{scheme + "://…"}, show: showOwn, secure: withPassword,
			open: func(ctx context.Context, url string, _ options) (*Store, error) { return opened(open(ctx, url)) },
		})
	}
}

// Store is an open lock store of any kind.
type Store struct {
	// Store is the store itself, such as a *redisstore.Store, for what only that kind can do.
	pathlock.Store

	scheme, where string
	members       []*Store // of a quorum
}

// opened is a store of which more is to be said.
func opened[S pathlock.Store](store S, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return &Store{Store: store}, nil
}

// Open opens the lock store that a URL names. It waits for no server: the first use of the store
// does, and its Ping tells whether it can serve. Only in an etcd with users, Open logs in.
//
// The error matches [ErrURL], or [pathlock.ErrUnavailable] where Open has to log in and cannot. It
// quotes no more of the URL than its options: if another part is missing, the password may stand in
// its place.
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	store, err := newOptions(opts).open(ctx, url)
	if err != nil && !errors.Is(err, pathlock.ErrUnavailable) {
		err = fmt.Errorf("%w: %w", ErrURL, err)
	}
	return store, err
}

func (o options) open(ctx context.Context, url string) (*Store, error) {
	if err := o.checkSchemes(); err != nil {
		return nil, err
	}
	k, err := o.kindOf(url)
	if err != nil {
		return nil, err
	}
	if o.password != "" {
		if url, err = k.secure(url, o.password); err != nil {
			return nil, err
		}
	}
	return k.openStore(ctx, url, o)
}

// openStore opens the store of a URL of this kind.
func (k kind) openStore(ctx context.Context, url string, o options) (*Store, error) {
	s, err := k.open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	s.scheme, s.where = schemeOf(url), k.show(url)
	return s, nil
}

// Scheme returns the scheme of the URL, such as redis+cluster. That of a store that grants
// everything is off.
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
