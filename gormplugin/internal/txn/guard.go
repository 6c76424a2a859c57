// Package txn knows when a transaction has really ended, and releases its path locks only then.
//
// GORM has no callback for the end of a transaction that the caller began. So a [Guard] puts its
// own pool around the connections of a DB. The pool begins a [Transaction], to which GORM has a
// [Handle]. A transaction ends
//
//   - by Commit or Rollback,
//   - with its context,
//   - by an error after which the server has ended it already, or
//   - when nobody has its handle.
//
// [Retry] repeats a transaction that the database has aborted in favour of others. [CallerValues]
// are restored, so that each try begins like the first.
//
// [Explain] says what an error of the database means to a transaction and to the caller.
//
// Nothing here knows tables or trees.
package txn

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
	"weak"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Guard begins transactions. Their path locks are those of its locker.
type Guard struct {
	Locker *pathlock.Locker
	// Dialect is known once the plugin is in use.
	Dialect *dialect.Dialect
	// DB is the one that uses the plugin.
	DB *gorm.DB
	// recognised has a weak.Pointer[sql.DB] for all connections whose database is known to be
	// supported, with whether they read dirty.
	recognised sync.Map
}

// IsClosed reports whether the connections of the DB have been closed. It does not reach the
// server: database/sql stops at a context that has ended, but says first that a pool is closed.
func (g *Guard) IsClosed() bool {
	connections, err := g.DB.DB()
	if err != nil {
		return false
	}
	ended, end := context.WithCancel(context.Background())
	end()
	return !errors.Is(connections.PingContext(ended), context.Canceled)
}

// IsReplacedOn reports whether a statement runs on connections of another guard, whose DB was
// closed.
func (g *Guard) IsReplacedOn(db *gorm.DB) bool {
	of := g
	switch c := Unwrapped(db.Statement.ConnPool).(type) {
	case *Handle:
		of = c.guard
	case *pool:
		of = c.guard
	}
	return of != g && of.DB != nil && of.IsClosed()
}

// questionTimeout bounds the questions that Use asks, which have no context of the caller's.
const questionTimeout = 5 * time.Second

// recognise returns an [*fault.UnsupportedDatabaseError] if the server at the end of one of the
// connections is no database that the plugin supports. A server that gives no answer is asked again
// the next time: it is a test's fake, or about to fail anyway.
func (g *Guard) recognise(ctx context.Context, connections *sql.DB, on dialect.Asker) error {
	key := weak.Make(connections)
	if _, done := g.recognised.Load(key); done {
		return nil
	}
	found, answered := g.Dialect.Imitation(ctx, on)
	if answered && found == nil {
		found = g.Dialect.Illegible(ctx, on, connections.Driver())
	}
	if found != nil {
		return &fault.UnsupportedDatabaseError{Product: found.Product, Version: found.Version, Why: found.Why}
	}
	if answered {
		g.recognised.Store(key, g.Dialect.ReadsDirty(ctx, on))
	}
	return nil
}

// ReadsDirty reports whether a plain read of db, outside of a transaction, may find what will be
// rolled back.
func (g *Guard) ReadsDirty(db *gorm.DB) bool {
	p, ok := Unwrapped(db.Statement.ConnPool).(*pool)
	if !ok {
		return false
	}
	dirty, _ := g.recognised.Load(weak.Make(p.DB))
	return dirty == true
}
