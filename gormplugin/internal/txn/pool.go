package txn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/gincontext"
	"gorm.io/gorm"
)

// pool is the connection pool of a guarded DB. Its transactions know when they have really ended:
// GORM has no callback for the commit of a transaction that the caller began.
type pool struct {
	*sql.DB
	guard *Guard
}

var (
	_ gorm.ConnPool         = (*pool)(nil)
	_ gorm.ConnPoolBeginner = (*pool)(nil)
	_ gorm.GetDBConnector   = (*pool)(nil)
)

// Pool returns the connections of a database in a form in which transactions on them are the
// guard's.
func (g *Guard) Pool(db *sql.DB) gorm.ConnPool { return &pool{DB: db, guard: g} }

// GetDBConn implements [gorm.GetDBConnector].
func (p *pool) GetDBConn() (*sql.DB, error) { return p.DB, nil }

// BeginTx implements [gorm.ConnPoolBeginner]. The end of ctx rolls the transaction back.
// database/sql would do so, too, but would report the transaction as done before the rollback, so
// that the locks would be released too early.
func (p *pool) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	ctx = gincontext.Join(ctx)
	live, end := context.WithCancel(ctx)
	// The context given to database/sql ends with ctx only until the transaction has begun.
	begin, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(live, cancel)
	conn, tx, err := p.begin(begin, opts)
	if !stop() && err == nil {
		// ctx has ended meanwhile. Nothing was written.
		_ = tx.Rollback()
		// Close waits for the rollback where database/sql does it.
		_ = conn.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		cancel()
		end()
		if p.guard.Dialect.Classify(err).IsRetryable() {
			return nil, fault.Retryable(err)
		}
		return nil, Interrupted(ctx, err)
	}
	return newHandle(newTransaction(ctx, live, p, conn, tx, func() { cancel(); end() })), nil
}

// begin begins a transaction on a connection of its own. Closing the connection waits for the end
// of the transaction. As in database/sql itself, another connection replaces one that turns out to
// be stale.
func (p *pool) begin(ctx context.Context, opts *sql.TxOptions) (*sql.Conn, *sql.Tx, error) {
	const tries = 3
	for try := 1; ; try++ {
		conn, err := p.Conn(ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := p.guard.recognise(ctx, p.DB, conn); err != nil {
			return nil, nil, errors.Join(err, conn.Close())
		}
		tx, err := conn.BeginTx(ctx, opts)
		if err == nil {
			return conn, tx, nil
		}
		_ = conn.Close() // it has failed already
		if try == tries || !errors.Is(err, driver.ErrBadConn) {
			return nil, nil, err
		}
	}
}

// WrapPool replaces the DB's connections by a pool, inside the cache of prepared statements where
// there is one.
func (g *Guard) WrapPool(db *gorm.DB) error {
	if c, ok := Unwrapped(db.ConnPool).(*pool); ok && c.guard == g {
		return nil // it was opened on gormplugin.Plugin.Pool
	}
	managed, ok := g.manage(db.ConnPool)
	if !ok {
		return fmt.Errorf("%w: the DB's pool is a %T, not a *sql.DB: use this plugin before any other", fault.ErrUnmanagedTransaction, Unwrapped(db.ConnPool))
	}
	db.ConnPool, db.Statement.ConnPool = managed, managed
	return nil
}

// ChooseManaged lets dbresolver, where it is used, choose the connections for a write that runs in
// no transaction: dbresolver's own callback may come after the plugin's. It then puts the plugin's
// pool around them, so that the plugin begins the statement's transaction. It reports whether these
// are other connections than the DB's.
func (g *Guard) ChooseManaged(db *gorm.DB, resolve func(*gorm.DB)) (elsewhere bool) {
	if _, running := db.Statement.ConnPool.(gorm.TxCommitter); running || resolve == nil {
		return false
	}
	resolve(db)
	managed, elsewhere := g.manage(db.Statement.ConnPool)
	db.Statement.ConnPool = managed
	return elsewhere
}

// manage puts the plugin's pool around bare connections, inside the cache of prepared statements
// where there is one. It does not change the cache itself, which may belong to another plugin.
func (g *Guard) manage(connections gorm.ConnPool) (managed gorm.ConnPool, changed bool) {
	switch c := connections.(type) {
	case *sql.DB:
		return &pool{DB: c, guard: g}, true
	case *gorm.PreparedStmtDB:
		if inner, changed := g.manage(c.ConnPool); changed {
			return &gorm.PreparedStmtDB{Stmts: c.Stmts, Mux: c.Mux, ConnPool: inner}, true
		}
	}
	return connections, false
}

// RecogniseNow asks the database of db what it is. There may be no database yet: a session that
// only builds SQL has none, and GORM can be configured not to connect. The question is then asked
// before the first transaction.
func (g *Guard) RecogniseNow(db *gorm.DB) error {
	if db.DryRun {
		return nil
	}
	var connections *sql.DB
	switch c := Unwrapped(db.ConnPool).(type) {
	case *sql.DB:
		connections = c
	case *pool:
		connections = c.DB
	default:
		return nil // which WrapPool refuses
	}
	ctx, cancel := context.WithTimeout(context.Background(), questionTimeout)
	defer cancel()
	return g.recognise(ctx, connections, connections)
}

// TransactionOf returns the transaction of the plugin's in which a statement runs, nil if it runs
// on the plugin's pool. Anything else is an error that matches [fault.ErrUnmanagedTransaction].
func (g *Guard) TransactionOf(db *gorm.DB) (*Transaction, error) {
	switch c := Unwrapped(db.Statement.ConnPool).(type) {
	case *Handle:
		if c.guard == g {
			return c.Transaction, c.relyOn()
		}
	case *pool:
		if c.guard == g {
			return nil, nil
		}
	}
	if err := RefuseSharding(db); err != nil {
		return nil, err
	}
	advice := "use a session that was made after db.Use, and the plugin before all others"
	if _, single := Unwrapped(db.Statement.ConnPool).(*sql.Conn); single {
		advice = "in place of db.Connection, use db.Transaction, which keeps one connection, too"
	}
	return nil, fmt.Errorf("%w: the statement on %q runs on a %T that the plugin did not hand out: %s",
		fault.ErrUnmanagedTransaction, db.Statement.Table, Unwrapped(db.Statement.ConnPool), advice)
}

// shardingPlugin is what [gorm.DB.Use] knows gorm.io/sharding by.
const shardingPlugin = "gorm:sharding"

// RefuseSharding returns an error if db uses gorm.io/sharding. That puts its own connections around
// those of each statement, and changes the table in the statement's text after all callbacks.
func RefuseSharding(db *gorm.DB) error {
	if _, there := db.Plugins[shardingPlugin]; !there {
		return nil
	}
	return fmt.Errorf("%w: gorm.io/sharding sends a statement to another table than the one that was locked and asserted: open a *gorm.DB of its own for the sharded tables",
		fault.ErrUnsupported)
}
