package txn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// pool is the connection pool that a guarded DB works on. Its transactions say when they
// have really ended: GORM has no callback for the commit of a transaction that the caller began.
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

// BeginTx implements [gorm.ConnPoolBeginner]. The end of ctx rolls the transaction back, as
// database/sql's own does; but that one calls the transaction done before it has rolled back, and
// locks would be let go too early.
func (p *pool) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	ctx = p.owner.Join(ctx)
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
		if p.owner.Dialect.Classify(err).IsRetryable() {
			return nil, fault.Retry(err)
		}
		return nil, Interrupted(ctx, err)
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
