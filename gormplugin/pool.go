package gormplugin

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// pool is the connection pool that a guarded DB works on. Its transactions say when they
// have really ended: GORM has no callback for the commit of a transaction that the caller began.
type pool struct {
	*sql.DB
	owner *owner
}

var (
	_ gorm.ConnPool         = (*pool)(nil)
	_ gorm.ConnPoolBeginner = (*pool)(nil)
	_ gorm.GetDBConnector   = (*pool)(nil)
)

// GetDBConn implements [gorm.GetDBConnector].
func (p *pool) GetDBConn() (*sql.DB, error) { return p.DB, nil }

// BeginTx implements [gorm.ConnPoolBeginner]. The end of ctx rolls the transaction back, as
// database/sql's own does; but that one calls the transaction done before it has rolled back, and
// locks would be let go too early.
func (p *pool) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	ctx = p.owner.joined(ctx)
	// The context given to database/sql ends with ctx only as long as the
	// transaction is being begun.
	begin, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	conn, tx, err := p.begin(begin, opts)
	if !stop() && err == nil {
		// ctx has ended meanwhile. Nothing was written.
		_ = tx.Rollback()
		// This waits for the rollback, if it is database/sql that does it.
		_ = conn.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		cancel()
		if p.owner.dialect.Classify(err).IsRetryable() {
			return nil, fault.Retry(err)
		}
		return nil, interrupted(ctx, err)
	}
	return newHandle(newTransaction(ctx, p.owner, conn, tx, cancel)), nil
}

// begin begins a transaction on a connection of its own. Closing that one waits for the end of the
// transaction. As database/sql itself does it, a connection that turns out to be stale is replaced.
func (p *pool) begin(ctx context.Context, opts *sql.TxOptions) (*sql.Conn, *sql.Tx, error) {
	const tries = 3
	for try := 1; ; try++ {
		conn, err := p.Conn(ctx)
		if err != nil {
			return nil, nil, err
		}
		if err := p.owner.recognise(ctx, p.DB, conn); err != nil {
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

// wrapPool puts a pool in the place of the DB's connections, inside the
// cache of prepared statements where there is one.
func (p *owner) wrapPool(db *gorm.DB) error {
	if own, ok := unwrapped(db.ConnPool).(*pool); ok && own.owner == p {
		return nil // it was opened on [Plugin.Pool]
	}
	if prepared, ok := db.ConnPool.(*gorm.PreparedStmtDB); ok {
		inner, ok := prepared.ConnPool.(*sql.DB)
		if !ok {
			return fmt.Errorf("%w: the prepared statements' pool is a %T, not a *sql.DB", fault.ErrUnmanagedTransaction, prepared.ConnPool)
		}
		prepared.ConnPool = &pool{DB: inner, owner: p}
		return nil
	}
	inner, ok := db.ConnPool.(*sql.DB)
	if !ok {
		return fmt.Errorf("%w: the DB's pool is a %T, not a *sql.DB: use this plugin before any other", fault.ErrUnmanagedTransaction, db.ConnPool)
	}
	wrapped := &pool{DB: inner, owner: p}
	db.ConnPool = wrapped
	db.Statement.ConnPool = wrapped
	return nil
}

// Pool returns the connections of a database that the DB itself was not opened with, such as
// another source of dbresolver's, in a form in which transactions on them are the plugin's: as the
// Conn of the source's dialector.
func (p *Plugin) Pool(db *sql.DB) gorm.ConnPool { return &pool{DB: db, owner: p.owner} }

// resolverCallback is what dbresolver's choice of connections is registered as.
const resolverCallback = "gorm:db_resolver"

// sourceKey is the setting by which dbresolver reads from a source, and not from a replica that may
// lag behind.
const sourceKey = "gorm:db_resolver:write"

// source begins a statement that reads. One that runs in no transaction reads where dbresolver
// would write to the table, and not from a replica that may lag behind.
func (t *table) source(db *gorm.DB) *direct {
	d := t.direct(db)
	resolve := db.Callback().Row().Get(resolverCallback)
	if _, running := db.Statement.ConnPool.(gorm.TxCommitter); running || resolve == nil {
		return d
	}
	chosen := db.Session(&gorm.Session{NewDB: true}).Set(sourceKey, struct{}{}).Model(t.fresh())
	if err := chosen.Statement.Parse(chosen.Statement.Model); err != nil {
		_ = d.AddError(err)
		return d
	}
	resolve(chosen)
	d.ConnPool = chosen.Statement.ConnPool
	return d
}

// choose has dbresolver, where it is used, choose the connections for a write that runs in no
// transaction; its own callback may come after the plugin's. It then puts the plugin's pool around
// them, so that it is the plugin that begins the statement's transaction. It reports whether these
// are other connections than the DB's.
func (p *owner) choose(db *gorm.DB, resolve func(*gorm.DB)) (elsewhere bool) {
	if _, running := db.Statement.ConnPool.(gorm.TxCommitter); running || resolve == nil {
		return false
	}
	resolve(db)
	managed, elsewhere := p.managed(db.Statement.ConnPool)
	db.Statement.ConnPool = managed
	return elsewhere
}

// managed puts the plugin's pool around bare connections, inside the cache of prepared statements
// where there is one. The cache itself belongs to another plugin, and is left as it is.
func (p *owner) managed(connections gorm.ConnPool) (managed gorm.ConnPool, changed bool) {
	switch c := connections.(type) {
	case *sql.DB:
		return &pool{DB: c, owner: p}, true
	case *gorm.PreparedStmtDB:
		if inner, changed := p.managed(c.ConnPool); changed {
			return &gorm.PreparedStmtDB{Stmts: c.Stmts, Mux: c.Mux, ConnPool: inner}, true
		}
	}
	return connections, false
}

// unwrapped returns the connections below GORM's caches of prepared
// statements; a session can lay one cache around another.
func unwrapped(connections gorm.ConnPool) gorm.ConnPool {
	for {
		switch c := connections.(type) {
		case *gorm.PreparedStmtTX:
			connections = c.Tx
		case *gorm.PreparedStmtDB:
			connections = c.ConnPool
		default:
			return connections
		}
	}
}

// connections finds out what a statement works on: a transaction of the plugin's, or (nil) its
// pool. Anything else is an error that matches [ErrUnmanagedTransaction].
func (p *owner) connections(db *gorm.DB) (*transaction, error) {
	switch c := unwrapped(db.Statement.ConnPool).(type) {
	case *handle:
		if c.owner == p {
			return c.transaction, c.rawEnd.relyOn()
		}
	case *pool:
		if c.owner == p {
			return nil, nil
		}
	}
	return nil, fmt.Errorf("%w: the statement on %q runs on a %T that the plugin did not hand out: use a session that was made after db.Use, and the plugin before all others",
		fault.ErrUnmanagedTransaction, db.Statement.Table, unwrapped(db.Statement.ConnPool))
}
