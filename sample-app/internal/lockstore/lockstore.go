// Package lockstore opens the lock store that a URL names.
package lockstore

import (
	"context"
	"errors"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/offstore"
)

// Store is an open lock store.
type Store struct {
	pathlock.Store
	// Where describes the store to people. It has no password.
	Where string
	// Off says that the store grants everything, so that no lock keeps anybody out.
	Off bool

	close func() error
}

// Close closes the store's connections.
func (s *Store) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// opener opens the stores of one scheme.
type opener func(ctx context.Context, url string) (*Store, error)

// schemes returns the openers by scheme. Another lock store is another entry.
func schemes() map[string]opener {
	return map[string]opener{
		"memory":         openMemory,
		"off":            openOff,
		"redis":          openRedis,
		"rediss":         openRedis,
		"redis+cluster":  openRedis,
		"redis+sentinel": openRedis,
	}
}

// Supported lists the URLs that [Open] takes, for messages.
const Supported = "memory://, redis://host:6379/0, redis+cluster://h1,h2,h3, redis+sentinel://master@h1,h2 and off://"

// Open opens the lock store that url names. It does not connect: the first command does. A password
// other than "" is put into the URL, which then must not have one. Errors quote no part of the URL:
// if one part is missing, the password may stand in its place.
func Open(ctx context.Context, url, password string) (*Store, error) {
	scheme, _, ok := strings.Cut(url, "://")
	open := schemes()[scheme]
	if !ok || open == nil {
		return nil, errors.New("unknown lock store: supported are " + Supported)
	}
	if password != "" {
		var err error
		if url, err = withPassword(url, password); err != nil {
			return nil, err
		}
	}
	return open(ctx, url)
}

// Check says why [Open] refuses its arguments.
func Check(url, password string) error {
	store, err := Open(context.Background(), url, password)
	if err != nil {
		return err
	}
	return store.Close()
}

// openMemory opens a store for this process only.
func openMemory(context.Context, string) (*Store, error) {
	return &Store{Store: memstore.New(), Where: "memory:// (this process only)"}, nil
}

// openOff opens a store that grants everything to everybody, which is the worst way for a lock
// store to fail. Only the assertion in the database then protects a tree.
func openOff(context.Context, string) (*Store, error) {
	return &Store{Store: offstore.New(), Where: "off:// (no locks)", Off: true}, nil
}
