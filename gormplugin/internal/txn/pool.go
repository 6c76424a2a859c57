package txn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// pool is the connection pool of a guarded DB. Its transactions know when they have really ended:
// GORM has no callback for the commit of a transaction that the caller began.
type pool struct {
	*sql.DB
	owner *Owner
}

var (
	_ gorm.ConnPool         = (*pool)(nil)
	_ gorm.ConnPoolBeginner = (*pool)(nil)
	_ gorm.GetDBConnector   = (*pool)(nil)
)

// Pool returns the connections of a database in a form in which transactions on them are the
// owner's.
func (o *Owner) Pool(db *sql.DB) gorm.ConnPool { return &pool{DB: db, owner: o} }

// GetDBConn implements [gorm.GetDBConnector].
func (p *pool) GetDBConn() (*sql.DB, error) { return p.DB, nil }

// PrepareContext implements [gorm.ConnPool].
func (p *pool) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	stmt, err := p.DB.PrepareContext(ctx, query)
	p.owner.prepared(query, stmt)
	return stmt, err
}

// BeginTx implements [gorm.ConnPoolBeginner]. The end of ctx rolls the transaction back.
// database/sql would do so, too, but would report the transaction as done before the rollback, so
// that the locks would be released too early.
func (p *pool) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	ctx = p.owner.Join(ctx)
	// The context given to database/sql ends with ctx only until the transaction has begun.
	begin, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
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
		if p.owner.Dialect.Classify(err).IsRetryable() {
			return nil, fault.Retry(err)
		}
		return nil, Interrupted(ctx, err)
	}
	return newHandle(newTransaction(ctx, p, conn, tx, cancel)), nil
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
