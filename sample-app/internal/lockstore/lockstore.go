// Package lockstore opens the lock store of an instance.
package lockstore

import (
	"context"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// Store is an open lock store.
type Store struct {
	pathlock.Store
	// Where describes the store to people. It has no password.
	Where string
	// Off says that the store grants everything, so that no lock keeps anybody out.
	Off bool

	close func(context.Context) error
}

// Open opens the lock store that url names: see [anystore.Open]. A password other than "" is put
// into the URL, which then must not have one. Errors quote no more of the URL than
// its options.
func Open(ctx context.Context, url, password string) (*Store, error) {
	store, err := anystore.Open(ctx, url, anystore.WithPassword(password))
	if err != nil {
		return nil, err
	}
	return &Store{Store: store, Where: store.String(), Off: store.Scheme() == "off", close: store.Close}, nil
}

// closing is how long a store may take to withdraw the requests that nobody waits for any more.
const closing = 5 * time.Second

// Close closes the store's connections.
func (s *Store) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return s.CloseWithin(ctx)
}

// CloseWithin is Close within the time of ctx.
func (s *Store) CloseWithin(ctx context.Context) error {
	if s.close == nil {
		return nil
	}
	return s.close(ctx)
}

// Check says why [Open] refuses its arguments. That a store cannot be reached is no reason.
func Check(url, password string) error {
	store, err := Open(context.Background(), url, password)
	switch {
	case errors.Is(err, pathlock.ErrUnavailable):
		return nil
	case err != nil:
		return err
	default:
		return store.Close()
	}
}
