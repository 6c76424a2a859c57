package gormplugin

import (
	"database/sql"
	"errors"

	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// oneConn is a connection that passes for a transaction: other plugins, such as dbresolver, send
// the statements of anything else to connections of their own choice.
type oneConn struct{ *sql.Conn }

// errNoTransaction says that there is nothing to commit or to roll back.
var errNoTransaction = errors.New("gormplugin: AutoMigrate runs in no transaction here")

// Commit implements [gorm.TxCommitter].
func (oneConn) Commit() error { return errNoTransaction }

// Rollback implements [gorm.TxCommitter].
func (oneConn) Rollback() error { return errNoTransaction }

// pinned runs f on one connection of db, which is that of the transaction, if db is in one.
func pinned(db *gorm.DB, f func(tx *gorm.DB) error) error {
	if _, inTransaction := txn.Unwrapped(db.Statement.ConnPool).(*txn.Handle); inTransaction {
		return f(db)
	}
	return db.Connection(func(tx *gorm.DB) error {
		if conn, ok := tx.Statement.ConnPool.(*sql.Conn); ok {
			tx.Statement.ConnPool = oneConn{conn}
		}
		return f(tx.Session(&gorm.Session{}))
	})
}
