package gormplugin

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"time"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// direct is a statement of the plugin's own on a guarded table. It runs on the connection, and
// within the transaction, of the statement that it serves, and past GORM's chains of callbacks:
// what other plugins add to everybody's statements, such as a condition or a column, has no
// business in it.
type direct struct {
	*gorm.Statement
	table *table
}

// direct begins a statement on the table that db's statement works with.
func (t *table) direct(db *gorm.DB) *direct {
	own := &gorm.DB{Config: db.Config}
	own.Statement = &gorm.Statement{
		DB: own, ConnPool: db.Statement.ConnPool, Context: db.Statement.Context,
		Schema: t.schema, Table: baseName(t.name), Clauses: make(map[string]clause.Clause),
	}
	if own.Statement.Table != t.name {
		own.Statement.TableExpr = &clause.Expr{SQL: own.Statement.Quote(t.name)}
	}
	return &direct{Statement: own.Statement, table: t}
}

// add appends SQL, in which every ? stands for a variable, an expression, a column or a table.
func (d *direct) add(sql string, vars ...any) *direct {
	clause.Expr{SQL: sql, Vars: vars}.Build(d)
	return d
}

// query runs a statement that reads, and hands every row to take. Whatever fails, be it the
// statement, the reading of a row or the end of the rows, where a database may tell of a deadlock,
// is explained here.
func (d *direct) query(take func(*sql.Rows) error) error {
	var rows *sql.Rows
	err := d.run(func(ctx context.Context) (_ int64, err error) {
		//nolint:rowserrcheck,sqlclosecheck // Both are done below, on all paths.
		rows, err = d.ConnPool.QueryContext(ctx, d.SQL.String(), d.Vars...)
		txn.HaveRead(d.ConnPool) // as every error that comes with them is looked for
		return -1, err
	})
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		err = take(rows)
	}
	if err = cmp.Or(err, rows.Err(), rows.Close()); err != nil {
		return d.explained(err)
	}
	return nil
}

// exec runs a statement that writes, and returns how many rows it has changed.
func (d *direct) exec() (affected int64, err error) {
	err = d.run(func(ctx context.Context) (int64, error) {
		result, err := d.ConnPool.ExecContext(ctx, d.SQL.String(), d.Vars...)
		txn.HaveRead(d.ConnPool)
		if err == nil {
			affected, err = result.RowsAffected()
		}
		return affected, err
	})
	return affected, err
}

// one reads the only row of a statement into places.
func (d *direct) one(places ...any) error {
	return d.first(func(rows *sql.Rows) error { return rows.Scan(places...) })
}

// into reads the only row of a statement into a struct of the model, as GORM does.
func (d *direct) into(model reflect.Value) error {
	reader := d.DB.Session(&gorm.Session{NewDB: true, Context: d.Context}).Model(model.Interface())
	return d.first(func(rows *sql.Rows) error { return reader.ScanRows(rows, model.Interface()) })
}

// first has read read the only row of a statement. Without one, the error is
// [gorm.ErrRecordNotFound].
func (d *direct) first(read func(*sql.Rows) error) error {
	found := false
	err := d.query(func(rows *sql.Rows) error {
		found = true
		return read(rows)
	})
	if err == nil && !found {
		return gorm.ErrRecordNotFound
	}
	return err
}

// run runs the statement, tells GORM's log about it, and explains its error.
func (d *direct) run(statement func(context.Context) (rows int64, err error)) error {
	if d.DB.Error != nil {
		return d.DB.Error
	}
	if d.DB.DryRun {
		return gorm.ErrDryRunModeUnsupported
	}
	began := time.Now()
	rows, err := statement(d.Context)
	d.DB.Logger.Trace(d.Context, began, func() (string, int64) {
		return d.DB.Dialector.Explain(d.SQL.String(), d.Vars...), rows
	}, err)
	return d.explained(err)
}

// explained is the error that a statement's error means to a caller. A transaction that the error
// has ended is not gone on with, whatever becomes of the error.
func (d *direct) explained(err error) error {
	d.DB.Error = err
	txn.Explain(d.table.dialect, d.DB, nil)
	if err != nil && d.table.dialect.Classify(err) == dialect.FailureOther {
		d.DB.Error = txn.Interrupted(d.Context, d.DB.Error)
	}
	return d.DB.Error
}

// selection says which rows of a table are read, and how.
type selection struct {
	// where is the condition; nil for all rows. Softly deleted rows are left out unless unscoped is
	// set.
	where    clause.Expression
	unscoped bool
	// lock is what the rows are locked with; "" for a plain read.
	lock dialect.RowLock
	// byPrimaryKey is set where where goes by the primary key. It keeps a locking read from
	// scanning, and locking, a table that the database thinks small enough for that.
	byPrimaryKey bool
	// order and limit are clauses of the statement that the rows are read for.
	order, limit clause.Expression
}

// add appends a SELECT of the table's place columns to d.
func (s selection) add(d *direct) {
	t := d.table
	d.add("SELECT ?", t.list)
	if s.lock != "" && t.dialect.Isolation != "" {
		d.add(", " + t.dialect.Isolation)
	}
	d.add(" FROM ?", clause.Table{Name: t.name})
	if s.byPrimaryKey && s.lock != "" && t.dialect.PrimaryKeyHint != "" {
		d.add(" " + t.dialect.PrimaryKeyHint)
	}
	d.add(" WHERE ?", t.matching(s.where, s.unscoped))
	for _, c := range []clause.Expression{s.order, s.limit} {
		if c != nil {
			d.add(" ?", c)
		}
	}
	if s.lock != "" {
		d.add(" " + string(s.lock))
	}
}

// matching is the condition where, of live rows unless unscoped is set.
func (t *table) matching(where clause.Expression, unscoped bool) clause.Expression {
	switch {
	case unscoped && where == nil:
		return clause.Expr{SQL: "1 = 1"}
	case unscoped:
		return where
	case where == nil:
		return t.alive
	default:
		return clause.Expr{SQL: "(?) AND ?", Vars: []any{where, t.alive}}
	}
}

// read returns the rows that are selected.
func (t *table) read(db *gorm.DB, s selection) ([]*node, error) {
	d := t.source(db)
	s.add(d)
	return t.collect(d, s.lock != "", false)
}

// collect runs d, which selects the table's place columns. Where locked is set, the isolation level
// follows them; where surveyed is set, the two columns of a survey do.
func (t *table) collect(d *direct, locked, surveyed bool) (nodes []*node, err error) {
	var unreadable error
	err = d.query(func(rows *sql.Rows) error {
		var n *node
		n, unreadable = t.scan(d.Context, rows, locked, surveyed)
		nodes = append(nodes, n)
		return unreadable
	})
	switch {
	case err == nil:
		return nodes, nil
	case unreadable != nil:
		return nil, err // it says so itself
	default:
		return nil, fmt.Errorf("gormplugin: reading %s: %w", t.name, err)
	}
}

// updateDirect sets a column of the rows that match where.
func (t *table) updateDirect(db *gorm.DB, set *schema.Field, value any, where clause.Expression) error {
	_, err := t.direct(db).add("UPDATE ? SET ? = ? WHERE ?", clause.Table{Name: t.name}, clause.Column{Name: set.DBName}, value, where).exec()
	return err
}
