package gormplugin

import (
	"context"
	"database/sql"
	"sync"
	"time"
	"weak"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"gorm.io/gorm"
)

// recognised remembers the connections whose database is known to be supported.
type recognised struct{ pools sync.Map } // of weak.Pointer[sql.DB] to nothing

// questionTimeout bounds the question at Use, where the caller has no context to bound it by.
const questionTimeout = 5 * time.Second

// recogniseNow asks the database that db is open on what it is. It need not be there yet: a session
// that only builds SQL has none, and GORM can be told not to connect. It is then asked before the
// first transaction.
func (p *owner) recogniseNow(db *gorm.DB) error {
	if db.DryRun {
		return nil
	}
	var connections *sql.DB
	switch c := unwrapped(db.ConnPool).(type) {
	case *sql.DB:
		connections = c
	case *pool:
		connections = c.DB
	default:
		return nil // which wrapPool refuses
	}
	ctx, cancel := context.WithTimeout(context.Background(), questionTimeout)
	defer cancel()
	return p.recognise(ctx, connections, connections)
}

// recognise returns an [*UnsupportedDatabaseError] if what answers on one of the connections is no
// database that the plugin supports. One that gives no answer is asked again the next time: it is
// what a test plays, or it is about to fail anyway.
func (p *owner) recognise(ctx context.Context, connections *sql.DB, on dialect.Asker) error {
	key := weak.Make(connections)
	if _, done := p.recognised.pools.Load(key); done {
		return nil
	}
	answered, err := p.dialect.CheckProduct(ctx, on)
	if err != nil || !answered {
		return err
	}
	p.recognised.pools.Store(key, nil)
	return nil
}
