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

// Open opens the lock store that a URL names. It waits for no server: the first use of the store
// does, and its Ping tells whether it can serve. Only in an etcd with users, Open logs in.
//
// The error matches [ErrURL], or [pathlock.ErrUnavailable] where Open has to log in and cannot. It
// quotes no more of the URL than its options: if another part is missing, the password may stand in
// its place.
func Open(ctx context.Context, url string, opts ...Option) (*Store, error) {
	o := newOptions(opts)
	if err := o.checkSchemes(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	k, err := o.kindOf(url)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	if o.password != "" {
		if url, err = k.secure(url, o.password); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrURL, err)
		}
	}
	store, err := k.openStore(ctx, url, o)
	if err != nil && !errors.Is(err, pathlock.ErrUnavailable) {
		err = fmt.Errorf("%w: %w", ErrURL, err)
	}
	return store, err
}

// openStore opens the store of a URL of this kind.
func (k kind) openStore(ctx context.Context, url string, opts options) (*Store, error) {
	o, err := k.open(ctx, url, opts)
	if err != nil {
		return nil, err
	}
	return &Store{
		Store: o.store, scheme: schemeOf(url), where: k.show(url), close: o.close,
	}, nil
}
