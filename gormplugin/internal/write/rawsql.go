package write

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/gincontext"
	"gorm.io/gorm"
)

// rawWritesKey marks statements that may write guarded tables by raw SQL.
const rawWritesKey = "pathlock:raw_writes"

// Allow returns a DB on which raw SQL may write to guarded tables.
func Allow(db *gorm.DB) *gorm.DB {
	return db.Set(rawWritesKey, true).Session(&gorm.Session{})
}

// refusalOf returns the error for sql that may write to a guarded table, nil for any other.
func (e *Engine) refusalOf(sql string) error {
	if statement, table := e.Names.FindWrite(sql); statement != "" {
		return &fault.RawWriteError{Table: table, Statement: statement}
	}
	if table := e.Redefined(sql); table != "" {
		return &fault.RawWriteError{Table: table, Statement: "ALTER"}
	}
	return nil
}

// watchExec is the first callback of the chain that runs raw SQL.
func (e *Engine) watchExec(db *gorm.DB) { e.watch(db, true) }

// watchQuery is the first callback of the chain that reads. The SQL that GORM builds itself there
// only reads, and is not built yet.
func (e *Engine) watchQuery(db *gorm.DB) { e.watch(db, false) }

func (e *Engine) watch(db *gorm.DB, executed bool) {
	db.Statement.Context = gincontext.Join(db.Statement.Context)
	if db.Statement.SQL.Len() == 0 || db.Error != nil || db.DryRun {
		return
	}
	sql := db.Statement.SQL.String()
	var err error
	if e.Tripwire {
		err = e.refusalOf(sql)
	}
	writes := err != nil
	if allowed, _ := db.Get(rawWritesKey); allowed == true {
		err = nil
	}
	if err == nil {
		err = e.WatchEnd(db, sql, writes, executed)
	}
	_ = db.AddError(err) // if there is one
}

// watchRow is [Engine.watchQuery] for [gorm.DB.Row] and [gorm.DB.Rows].
func (e *Engine) watchRow(db *gorm.DB) {
	e.watchQuery(db)
	if rows, _ := db.Get("rows"); rows == true || db.Error == nil {
		return
	}
	// Row returns no error: the caller looks for one in Scan, and needs a row for that.
	ctx := &refusedContext{db.Statement.Context, db.Error}
	db.Statement.Dest = txn.Unwrapped(db.Statement.ConnPool).QueryRowContext(ctx, "")
}

// refusedContext is a context that has ended with a given error. database/sql answers it with a row
// that has that error.
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

// AssertNodes asserts nodes for a caller who writes by other means, in the transaction that db is
// in. If lock is set, it first takes their path locks. It returns where the nodes are, in the order
// of the keys. Plans and assertions treat them as rows that are about to be deleted.
func (e *Engine) AssertNodes(db *gorm.DB, t *table.Table, keys []any, lock bool) (_ []pathlock.Location, err error) {
	s := &statement{Engine: e, DB: db, Table: t, nodes: &assertedNodes{keys, lock}, Operation: "raw", Note: "raw SQL on " + t.TableName}
	s.tx, err = e.TransactionOf(db)
	switch {
	case err != nil:
		return nil, err
	case s.tx == nil:
		return nil, fmt.Errorf("%w: asserting needs a transaction", fault.ErrUnmanagedTransaction)
	}
	txn.NoteWrite(db) // which the caller is about to do
	if err := s.becomeWriter(); err != nil {
		return nil, s.explained(err)
	}
	stmt := db.Where(t.KeyIn(table.Column(t.Key), keys)).Statement
	planned, err := s.surveyEffect(deletion, stmt)
	found, err := s.assertEffect(deletion, stmt, planned, err)
	if err != nil {
		return nil, s.explained(err)
	}
	locations := make([]pathlock.Location, len(keys))
	for i, key := range keys {
		if locations[i], err = t.Above.Location(found.Live[key]); err != nil {
			return nil, err
		}
		locations[i].Leaf = t.IsLeaf
	}
	return locations, nil
}

// assertedNodes are nodes whose assertion a caller asks for, nil for none. Without lock, it needs
// no path locks.
type assertedNodes struct {
	keys []any
	lock bool
}

// check refuses what a statement hits unless each of the nodes is there.
func (a *assertedNodes) check(t *table.Table, hit plan.Hits) error {
	if a == nil {
		return nil
	}
	if err := t.CheckSpelling(hit.Live, a.keys); err != nil {
		return err
	}
	for _, key := range a.keys {
		if hit.Live[key] == nil {
			return t.Missing(key)
		}
	}
	return nil
}

// hold makes a plan one of the nodes, whose own paths have to be right, too.
func (a *assertedNodes) hold(t *table.Table, x *plan.Effect) error {
	if a == nil {
		return nil
	}
	for _, n := range x.Live {
		switch {
		case !t.IsLeaf:
			x.Anchors = append(x.Anchors, n)
		case x.Parents[n.Parent] == nil:
			return plan.NotFound("%s, the parent of %s", t.Above.RowName(n.Parent), t.RowName(n.ID))
		}
	}
	if !a.lock {
		clear(x.Claims)
	}
	return nil
}
