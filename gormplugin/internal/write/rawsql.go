package write

import (
	"context"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// rawWritesKey marks statements that may write guarded tables by raw SQL.
const rawWritesKey = "pathlock:raw_writes"

// Allow returns a DB on which raw SQL may write to guarded tables.
func Allow(db *gorm.DB) *gorm.DB {
	return db.Set(rawWritesKey, true).Session(&gorm.Session{})
}

// trips returns the error for sql that writes to a guarded table, nil for any other.
func (e *Engine) trips(sql string) error {
	if statement, table := e.Names.FindWrite(sql); statement != "" {
		return &fault.RawWriteError{Table: table, Statement: statement}
	}
	return nil
}

// WatchExec is the first callback of the chain that runs raw SQL.
func (e *Engine) WatchExec(db *gorm.DB) { e.watch(db, true) }

// WatchQuery is the first callback of the chain that reads. The SQL that GORM builds itself there
// only reads, and is not built yet.
func (e *Engine) WatchQuery(db *gorm.DB) { e.watch(db, false) }

func (e *Engine) watch(db *gorm.DB, executed bool) {
	db.Statement.Context = e.Join(db.Statement.Context)
	if db.Statement.SQL.Len() == 0 || db.Error != nil || db.DryRun {
		return
	}
	sql := db.Statement.SQL.String()
	var err error
	if e.Tripwire {
		err = e.trips(sql)
	}
	writes := err != nil
	if allowed, _ := db.Get(rawWritesKey); allowed == true {
		err = nil
	}
	if err == nil {
		err = e.WatchEnd(db, sql, writes, executed)
	}
	if err != nil {
		_ = db.AddError(err)
	}
}

// WatchRow is [Engine.WatchQuery] for [gorm.DB.Row] and [gorm.DB.Rows].
func (e *Engine) WatchRow(db *gorm.DB) {
	e.WatchQuery(db)
	if rows, _ := db.Get("rows"); rows == true || db.Error == nil {
		return
	}
	// Row returns no error: the caller looks for one in Scan, and needs a row for that.
	ctx := &refusedContext{db.Statement.Context, db.Error}
	db.Statement.Dest = txn.Unwrapped(db.Statement.ConnPool).QueryRowContext(ctx, "")
}

// refusedContext is a context that has ended with a given error, of which database/sql makes a row
// with that error.
type refusedContext struct {
	context.Context
	err error
}

// Done implements [context.Context].
func (c *refusedContext) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// Err implements [context.Context].
func (c *refusedContext) Err() error { return c.err }
