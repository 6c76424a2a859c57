package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// How long [AutoMigrate] waits for other programs, and how often it looks. It asks again and again,
// since settings such as statement_timeout, lock_timeout and the driver's readTimeout end a
// statement that waits in the server.
const (
	migrationWait  = time.Minute
	migrationPause = 50 * time.Millisecond
)

// errMigrating says that another program has the lock of migrations.
var errMigrating = errors.New("gormplugin: AutoMigrate: another program is still migrating this database")

// inTurn runs try, and runs it again while another program migrates, or while the database aborts
// it in favour of other writers.
func (p *inUse) inTurn(db *gorm.DB, try func() error) error {
	// The database aborts the whole transaction, which may be the caller's.
	_, nested := db.Statement.ConnPool.(gorm.TxCommitter)
	_, err := backoff.Retry(db.Statement.Context, func() (struct{}, error) {
		err := try()
		if err != nil && !errors.Is(err, errMigrating) && (nested || !txn.IsRetryable(db, err)) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(migrationPause)), backoff.WithMaxElapsedTime(migrationWait))
	return err
}

// locked runs migrate while no other program has the lock of migrations. Otherwise the error is
// [errMigrating]. tx is a transaction or, where the lock has to be released, one connection.
func (p *inUse) locked(tx *gorm.DB, migrate func(*gorm.DB) error) (err error) {
	d := p.Dialect
	if d.LockMigration == "" {
		return migrate(tx)
	}
	var got bool
	switch err := tx.Raw(d.LockMigration).Row().Scan(&got); {
	case err != nil && d.LacksLocks(err):
		return migrate(tx)
	case err != nil:
		return err
	case !got:
		return errMigrating
	}
	if d.EndMigration != "" {
		defer func() {
			// The connection goes back to the pool.
			unlock := tx.WithContext(context.WithoutCancel(tx.Statement.Context)).Exec(d.EndMigration)
			err = errors.Join(err, unlock.Error)
		}()
	}
	return migrate(tx)
}

// oneConn is a connection that passes for a transaction: for anything else, other plugins, such as
// dbresolver, would choose the connections.
type oneConn struct{ *sql.Conn }

// errNoTransaction says that there is nothing to commit or to roll back.
var errNoTransaction = errors.New("gormplugin: AutoMigrate runs in no transaction here")

// Commit implements [gorm.TxCommitter].
func (oneConn) Commit() error { return errNoTransaction }

// Rollback implements [gorm.TxCommitter].
func (oneConn) Rollback() error { return errNoTransaction }

// pinned runs f on one connection of db: on its own, if it has one, as in a transaction.
func pinned(db *gorm.DB, f func(tx *gorm.DB) error) error {
	switch txn.Unwrapped(db.Statement.ConnPool).(type) {
	case *txn.Handle, *sql.Conn:
		return f(db)
	}
	return db.Connection(func(tx *gorm.DB) error {
		if conn, ok := tx.Statement.ConnPool.(*sql.Conn); ok {
			tx.Statement.ConnPool = oneConn{conn}
		}
		return f(tx.Session(&gorm.Session{}))
	})
}
