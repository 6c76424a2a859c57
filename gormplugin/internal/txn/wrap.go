package txn

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// WrapPool replaces the DB's connections by a pool, inside the cache of prepared statements where
// there is one.
func (o *Owner) WrapPool(db *gorm.DB) error {
	if c, ok := Unwrapped(db.ConnPool).(*pool); ok && c.owner == o {
		return nil // it was opened on gormplugin.Plugin.Pool
	}
	if prepared, ok := db.ConnPool.(*gorm.PreparedStmtDB); ok {
		inner, ok := prepared.ConnPool.(*sql.DB)
		if !ok {
			return fmt.Errorf("%w: the prepared statements' pool is a %T, not a *sql.DB", fault.ErrUnmanagedTransaction, prepared.ConnPool)
		}
		prepared.ConnPool = &pool{DB: inner, owner: o}
		return nil
	}
	inner, ok := db.ConnPool.(*sql.DB)
	if !ok {
		return fmt.Errorf("%w: the DB's pool is a %T, not a *sql.DB: use this plugin before any other", fault.ErrUnmanagedTransaction, db.ConnPool)
	}
	wrapped := &pool{DB: inner, owner: o}
	db.ConnPool = wrapped
	db.Statement.ConnPool = wrapped
	return nil
}

// ChooseManaged has dbresolver, where it is used, choose the connections for a write that runs in
// no transaction: dbresolver's own callback may come after the plugin's. It then puts the plugin's
// pool around them, so that the plugin begins the statement's transaction. It reports whether these
// are other connections than the DB's.
func (o *Owner) ChooseManaged(db *gorm.DB, resolve func(*gorm.DB)) (elsewhere bool) {
	if _, running := db.Statement.ConnPool.(gorm.TxCommitter); running || resolve == nil {
		return false
	}
	resolve(db)
	managed, elsewhere := o.manage(db.Statement.ConnPool)
	db.Statement.ConnPool = managed
	return elsewhere
}

// manage puts the plugin's pool around bare connections, inside the cache of prepared statements
// where there is one. It does not change the cache itself, which belongs to another plugin.
func (o *Owner) manage(connections gorm.ConnPool) (managed gorm.ConnPool, changed bool) {
	switch c := connections.(type) {
	case *sql.DB:
		return &pool{DB: c, owner: o}, true
	case *gorm.PreparedStmtDB:
		if inner, changed := o.manage(c.ConnPool); changed {
			return &gorm.PreparedStmtDB{Stmts: c.Stmts, Mux: c.Mux, ConnPool: inner}, true
		}
	}
	return connections, false
}

// RecogniseNow asks the database of db what it is. There may be no database yet: a session that
// only builds SQL has none, and GORM can be configured not to connect. The question is then asked
// before the first transaction.
func (o *Owner) RecogniseNow(db *gorm.DB) error {
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
	ctx, cancel := context.WithTimeout(context.Background(), QuestionTimeout)
	defer cancel()
	return o.recognise(ctx, connections, connections)
}

// TransactionOf returns the transaction of the plugin's in which a statement runs, nil if it runs
// on the plugin's pool. Anything else is an error that matches [fault.ErrUnmanagedTransaction].
func (o *Owner) TransactionOf(db *gorm.DB) (*Transaction, error) {
	switch c := Unwrapped(db.Statement.ConnPool).(type) {
	case *Handle:
		if c.owner == o {
			return c.Transaction, c.relyOn()
		}
	case *pool:
		if c.owner == o {
			return nil, nil
		}
	}
	if err := RefuseSharding(db); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%w: the statement on %q runs on a %T that the plugin did not hand out: use a session that was made after db.Use, and the plugin before all others",
		fault.ErrUnmanagedTransaction, db.Statement.Table, Unwrapped(db.Statement.ConnPool))
}
