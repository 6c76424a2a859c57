package gormplugin

import (
	"context"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// rawWritesKey marks statements that may write guarded tables by raw SQL.
const rawWritesKey = "pathlock:raw_writes"

// WithoutTripwire lets raw SQL write to guarded tables everywhere, as [AllowRawWrites] does per
// call.
func WithoutTripwire() Option { return func(p *Plugin) { p.wire.armed = false } }

// AllowRawWrites returns a DB on which [gorm.DB.Exec] and [gorm.DB.Raw] may write to guarded
// tables; db itself stays as it is. Nothing looks after the tree there: paths, descendants, leaves
// and locks are the caller's business, who calls [LockSubtrees] or [Assert] first, in the same
// transaction.
//
//	gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET note = '' WHERE plan_id = ?", plan)
//
// Writes by a model are guarded there as everywhere.
func AllowRawWrites(db *gorm.DB) *gorm.DB {
	return db.Set(rawWritesKey, true).Session(&gorm.Session{})
}

// wire is what raw SQL that writes to guarded tables trips over.
type wire struct {
	*txn.Owner
	*table.Catalogue
	// armed is set unless all raw SQL may pass.
	armed bool
}

// trips returns the error for sql that writes to a guarded table, nil for any other.
func (p *wire) trips(sql string) error {
	if p.Dialect.Grammar.IsPlainRead(sql) || !p.Names.MayMention(sql) {
		return nil
	}
	if found, ok := p.Names.FindWrite(sql); ok {
		return &fault.RawWriteError{Table: found.Table, Statement: found.Statement}
	}
	return nil
}

// watch is the first callback of the chains that run raw SQL. What GORM builds itself in them only
// reads, and is not built yet.
func (p *wire) watch(db *gorm.DB) {
	db.Statement.Context = p.Join(db.Statement.Context)
	if db.Statement.SQL.Len() == 0 || db.Error != nil || db.DryRun {
		return
	}
	sql := db.Statement.SQL.String()
	var err error
	if p.armed {
		err = p.trips(sql)
	}
	writes := err != nil
	if allowed, _ := db.Get(rawWritesKey); allowed == true {
		err = nil
	}
	if err == nil {
		err = p.WatchEnd(db, sql, writes)
	}
	if err != nil {
		_ = db.AddError(err)
	}
}

// watchRow is watch for [gorm.DB.Row] and [gorm.DB.Rows].
func (p *wire) watchRow(db *gorm.DB) {
	p.watch(db)
	if rows, _ := db.Get("rows"); rows == true || db.Error == nil {
		return
	}
	// Row returns no error, and would return no row either: its Scan is where the caller looks.
	ctx := &refusedContext{db.Statement.Context, db.Error}
	db.Statement.Dest = txn.Unwrapped(db.Statement.ConnPool).QueryRowContext(ctx, "")
}

// refusedContext is a context that has ended for a reason of its own, by which database/sql makes a
// row that has an error.
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
