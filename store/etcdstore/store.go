package etcdstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/ended"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Store is a [pathlock.Store] in etcd. Make one per process with [New] or [Open], and
// [Store.Close] it in the end.
type Store struct {
	*ticketstore.Store
	backend *backend
	// own is the client that Close closes; nil if the caller does.
	own io.Closer
}

var _ pathlock.Store = (*Store)(nil)

// New returns a store that keeps its locks in the etcd that client talks to. Stores on one etcd
// with one prefix see each other's locks. The client remains the caller's.
//
// Give the client the endpoints of all members, and a DialKeepAliveTime, as [Open] does: without
// it, a client notices very late that a member has vanished without a word.
func New(client *clientv3.Client, opts ...Option) *Store {
	b := newBackend(client, newConfig(opts))
	return &Store{Store: ticketstore.New("etcdstore", b, b.config.timeout), backend: b}
}

// Close ends the waits that are under way, with an error that matches [pathlock.ErrUnavailable],
// and everything that the store does in the background. It closes the client if [Open] made it.
//
// It releases no locks: that is up to their holders. What is still held ends with its lease. Close
// waits for the end of what is under way. If ctx ends first, the error matches ctx's. It may be
// called again.
func (s *Store) Close(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.backend.cancel)()
	return ended.Within(ctx, func() error {
		err := s.Store.Close(ctx)
		s.backend.cancel()
		if s.own != nil {
			if failed := s.own.Close(); failed != nil && !errors.Is(failed, context.Canceled) {
				err = errors.Join(err, fmt.Errorf("etcdstore: closing the client: %w", failed))
			}
		}
		return err
	})
}

// Client returns the client that the store works with, for what only etcd can tell, such as its
// alarms. It ends with the store if [Open] made it.
func (s *Store) Client() *clientv3.Client { return s.backend.client }
