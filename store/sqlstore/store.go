package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/ticketstore"
)

// Store is a lock store in a table of a SQL database. Close leaves the pool open unless
// [WithOwnPool] says otherwise.
type Store struct {
	pathlock.Store
	backend *backend
}

var _ pathlock.Store = (*Store)(nil)

// New returns a store in a database. It does not connect. The table has to be there: see
// [Store.Create].
//
// The pool may be the application's. The store needs a connection of it for each operation that is
// under way, and never one for a waiter. For the notifications of PostgreSQL it makes a connection
// of its own, with the settings of the pool's if their driver is pgx: see [WithListener]. An
// application that takes locks while its transactions hold all connections of the pool waits for
// itself: give the store a pool of its own, such as that of package sqlopen, or a larger one.
func New(db *sql.DB, name Dialect, opts ...Option) (*Store, error) {
	if db == nil {
		return nil, errors.New("sqlstore: no database")
	}
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	d, err := databaseOf(name)
	if err != nil {
		return nil, err
	}
	b := &backend{
		config: c, db: db, home: newHome(), work: newWork(), prepared: !c.makesTables,
		swept: time.Now(), crowds: make(map[pathlock.Tree]int),
		table: table{querier: db, database: d, name: c.prefix + "trees", decoder: new(ticketstore.Decoder)},
	}
	b.watcher = newWatcher(b)
	if name == Postgres {
		if l := newListener(b); l != nil {
			b.watcher.listen = func() { b.work.start(l.run) }
		}
	}
	return &Store{Store: ticketstore.New("sqlstore", b, c.timeout), backend: b}, nil
}

// Acquire implements [pathlock.Store].
func (s *Store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if req.Wait <= 0 || !s.backend.isFull(req.Tree) {
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

// DB returns the pool that the store works with, for what only the database can tell, such as its
// settings. It ends with the store if package sqlopen made it.
func (s *Store) DB() *sql.DB { return s.backend.db }

// work owns the goroutines of a store.
type work struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

func newWork() *work {
	w := &work{}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// start runs a function until it returns. Its context ends when the store is closed. It reports
// whether the store is open.
func (w *work) start(run func(context.Context)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.running.Go(func() { run(w.ctx) })
	return true
}

// close ends all of them.
func (w *work) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	w.running.Wait()
}
