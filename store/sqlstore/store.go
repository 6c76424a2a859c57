package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Store is a lock store in two tables of a SQL database.
type Store struct {
	*ticketstore.Store
	backend *backend
	db      *sql.DB
	work    *work
}

var _ pathlock.Store = (*Store)(nil)

// New returns a store in a database. It does not connect. The tables have to be there: see
// [Store.Create].
//
// The pool may be the application's. The store needs a connection of it for each operation that is
// under way, never one for a waiter, and one for all notifications of PostgreSQL. An application
// that takes locks while its transactions hold all connections of the pool waits for itself: give
// the store a pool of its own, such as that of package sqlopen, or a larger one.
func New(db *sql.DB, dialect Dialect, opts ...Option) (*Store, error) {
	if db == nil {
		return nil, errors.New("sqlstore: no database")
	}
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	w := newWork()
	b := &backend{config: c, home: newHome(), turn: make(chan struct{}, 1)}
	b.checked.Store(!c.makesTables)
	b.lookout, b.sweeper = newLookout(b, w), newSweeper(b, w)
	switch dialect {
	case MySQL:
		b.engine = &mysqlEngine{db: db, prefix: prefix(c.prefix)}
	case Postgres:
		b.engine = &postgres{db: db, prefix: prefix(c.prefix)}
		if l := newListener(b, db); l != nil {
			b.lookout.listen = func() { w.start(l.run) }
		}
	case SQLite:
		b.engine = newSQLite(db, prefix(c.prefix))
	default:
		return nil, fmt.Errorf("sqlstore: the dialect %q: give sqlstore.MySQL, sqlstore.Postgres or sqlstore.SQLite", dialect)
	}
	return &Store{Store: ticketstore.New("sqlstore", b, c.timeout), backend: b, db: db, work: w}, nil
}

// Acquire implements [pathlock.Store]. The error matches [pathlock.ErrInvalidRequest] if the
// acquisition makes no sense, or is larger than [WithMaxRequest] allows.
func (s *Store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	size := len(req.Note) + len(req.Owner) + len(req.Grant)
	for _, c := range req.Claims {
		size += len(c.Path.String()) + len(c.Mode.String())
	}
	if limit := s.backend.maxRequest; size > limit {
		return pathlock.Grant{}, fmt.Errorf("%w: pathlock/sqlstore: a request of %d bytes, at most %d are allowed: claim an ancestor, or the gate",
			pathlock.ErrInvalidRequest, size, limit)
	}
	if req.Wait <= 0 || s.backend.cache.get(keyOf(req.Tree)).waiters(req.Owner, req.Grant) < s.backend.maxWaiters {
		return s.Store.Acquire(ctx, req)
	}
	// It may pass all those who wait.
	req.Wait = 0
	grant, err := s.Store.Acquire(ctx, req)
	if conflict, ok := errors.AsType[*pathlock.ConflictError](err); ok {
		conflict.Err = errors.Join(conflict.Err, pathlock.ErrQueueFull)
	}
	return grant, err
}

// Close ends all calls that wait, with errors that match [pathlock.ErrUnavailable], and what the
// store has started. It gives nothing back: leases see to what is held. The pool stays open unless
// [WithOwnPool] says otherwise. Further calls fail.
func (s *Store) Close() error {
	err := s.Store.Close()
	s.work.close()
	s.backend.engine.close()
	if s.backend.ownPool {
		err = errors.Join(err, s.db.Close())
	}
	return err
}

// DB returns the pool that the store works with, for what only the database can tell, such as its
// settings. It ends with the store if package sqlopen made it.
func (s *Store) DB() *sql.DB { return s.db }
