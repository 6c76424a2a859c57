package gormplugin

import (
	"context"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"gorm.io/gorm"
)

// rawWritesKey marks statements that may write guarded tables by raw SQL.
const rawWritesKey = "pathlock:raw_writes"

// WithoutTripwire lets raw SQL write to guarded tables everywhere, as [AllowRawWrites] does per call.
func WithoutTripwire() Option { return func(p *Plugin) { p.tripwire = false } }

// AllowRawWrites returns a DB on which [gorm.DB.Exec] and [gorm.DB.Raw] may write to guarded tables; db itself stays as it
// is. Nothing looks after the tree there: paths, descendants, leaves and locks are the caller's business, who
// calls [LockSubtrees] or [Assert] first, in the same transaction.
//
//	gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET note = '' WHERE plan_id = ?", plan)
//
// Writes by a model are guarded there as everywhere.
func AllowRawWrites(db *gorm.DB) *gorm.DB {
	return db.Set(rawWritesKey, true).Session(&gorm.Session{})
}

// RawWriteError says which raw SQL was refused: it would have gone past the plugin. Nothing of it
// has run. It matches [ErrUnsupported].
type RawWriteError struct {
	// Table is the guarded table, as the SQL names it.
	Table string
	// Statement is the kind of write: "UPDATE", "INSERT", "DELETE".
	Statement string
}

// Error implements error.
func (e *RawWriteError) Error() string {
	return fmt.Sprintf("%v: %s: a raw %s would go past the plugin: write by the model, or use gormplugin.AllowRawWrites(tx) after gormplugin.LockSubtrees or gormplugin.Assert",
		ErrUnsupported, e.Table, e.Statement)
}

// Unwrap returns [ErrUnsupported].
func (e *RawWriteError) Unwrap() error { return ErrUnsupported }

// tripwire knows the names to look for in raw SQL.
type tripwire struct {
	grammar *rawsql.Grammar
	// names are the guarded tables' without a schema, and firsts the bytes that they begin with, in either case.
	names  []string
	firsts [256]bool
}

// newTripwire returns one for the tables.
func newTripwire(grammar *rawsql.Grammar, tables map[string]*table) *tripwire {
	w := &tripwire{grammar: grammar}
	for _, t := range tables {
		name := baseName(t.name)
		w.names = append(w.names, name)
		w.firsts[strings.ToLower(name)[0]] = true
		w.firsts[strings.ToUpper(name)[0]] = true
	}
	return w
}

// baseName returns a table's name without its schema.
func baseName(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// isGuarded reports whether a table with that name is guarded, in whatever schema.
func (w *tripwire) isGuarded(name string) bool {
	for _, guarded := range w.names {
		if strings.EqualFold(name, guarded) {
			return true
		}
	}
	return false
}

// mentions reports whether any guarded table's name is in sql, or could be there in escapes. It is what
// the raw statements on all other tables pay.
func (w *tripwire) mentions(sql string) bool {
	for i := range len(sql) {
		if sql[i] == '&' && i+1 < len(sql) && sql[i+1] == '"' {
			return true
		}
		if !w.firsts[sql[i]] {
			continue
		}
		for _, name := range w.names {
			if len(sql)-i >= len(name) && strings.EqualFold(sql[i:i+len(name)], name) {
				return true
			}
		}
	}
	return false
}

// trips returns the error for sql that writes to a guarded table, nil for any other.
func (w *tripwire) trips(sql string) error {
	if rawsql.IsPlainRead(sql) || !w.mentions(sql) {
		return nil
	}
	if found, ok := w.grammar.FindWrite(sql, w.isGuarded); ok {
		return &RawWriteError{Table: found.Table, Statement: found.Statement}
	}
	return nil
}

// watch is the first callback of the chains that run raw SQL. What GORM builds itself in them only
// reads, and is not built yet.
func (p *Plugin) watch(db *gorm.DB) {
	if db.Statement.SQL.Len() == 0 || db.Error != nil || db.DryRun || !p.tripwire {
		return
	}
	err := p.wire.trips(db.Statement.SQL.String())
	if err == nil || isInternal(db) {
		return
	}
	if allowed, _ := db.Get(rawWritesKey); allowed == true {
		return
	}
	_ = db.AddError(err)
}

// watchRow is watch for [gorm.DB.Row] and [gorm.DB.Rows].
func (p *Plugin) watchRow(db *gorm.DB) {
	p.watch(db)
	if rows, _ := db.Get("rows"); rows == true || db.Error == nil {
		return
	}
	// Row returns no error, and would return no row either: its Scan is where the caller looks.
	ctx := &refusedContext{db.Statement.Context, db.Error}
	db.Statement.Dest = unwrapped(db.Statement.ConnPool).QueryRowContext(ctx, "")
}

// refusedContext is a context that has ended for a reason of its own, by which database/sql makes a row
// that has an error.
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
