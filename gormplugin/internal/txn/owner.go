package txn

import (
	"context"
	"database/sql"
	"sync"
	"time"
	"weak"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/carry"
)

// Owner is whose transactions these are: it begins them, and their path locks are those of its
// locker.
type Owner struct {
	Locker *pathlock.Locker
	// carrier is the key under which a framework's context has the locks of its request.
	carrier any
	// Dialect is known once the plugin is in use.
	Dialect    *dialect.Dialect
	recognised recognised
}

// NewOwner returns one for a locker.
func NewOwner(locker *pathlock.Locker) *Owner {
	return &Owner{Locker: locker, carrier: carry.Key(locker)}
}

// recognised remembers the connections whose database is known to be supported.
type recognised struct{ pools sync.Map } // of weak.Pointer[sql.DB] to nothing

// Join returns the context that a statement or a transaction runs under which was given ctx.
// Where ctx carries the locks of a request and knows nothing of their end, as gin's own context
// does, it is one that ends with them: a lost lock ends the work.
func (o *Owner) Join(ctx context.Context) context.Context {
	if ctx == nil {
		return nil // a statement that GORM has not begun
	}
	return carry.Join(ctx, o.carrier)
}

// Carries reports whether locks come with ctx.
func (o *Owner) Carries(ctx context.Context) bool {
	return ctx.Value(carry.ScopeKey[pathlock.Locker]{Locker: o.Locker}) != nil || carry.Context(ctx, o.carrier) != nil
}

// QuestionTimeout bounds the question at Use, where the caller has no context to bound it by.
const QuestionTimeout = 5 * time.Second

// recognise returns an [*fault.UnsupportedDatabaseError] if what answers on one of the connections
// is no database that the plugin supports. One that gives no answer is asked again the next time:
// it is what a test plays, or it is about to fail anyway.
func (o *Owner) recognise(ctx context.Context, connections *sql.DB, on dialect.Asker) error {
	key := weak.Make(connections)
	if _, done := o.recognised.pools.Load(key); done {
		return nil
	}
	answered, err := o.Dialect.CheckProduct(ctx, on)
	if err != nil || !answered {
		return err
	}
	o.recognised.pools.Store(key, nil)
	return nil
}
