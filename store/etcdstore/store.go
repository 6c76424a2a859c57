package etcdstore

import (
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Store is a [pathlock.Store] in etcd. Make one per process with [New] or [Open], and
// [Store.Close] it in the end.
type Store struct {
	*ticketstore.Store
	backend *backend
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

// Client returns the client that the store works with, for what only etcd can tell, such as its
// alarms. It ends with the store if [Open] made it.
func (s *Store) Client() *clientv3.Client { return s.backend.client }
