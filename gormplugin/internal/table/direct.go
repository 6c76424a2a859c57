package table

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"reflect"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
)

// Direct is a statement of the plugin's own on a guarded table. It runs on the connection, and in
// the transaction, of the statement that it serves, past GORM's callbacks. It explains its errors
// as they do. Other plugins must not add their conditions and columns to it.
type Direct struct {
	*gorm.Statement
	table *Table
}

// Direct begins a statement on the table that db's statement works with.
func (t *Table) Direct(db *gorm.DB) *Direct {
	own := &gorm.DB{Config: db.Config}
	own.Statement = &gorm.Statement{
		DB: own, ConnPool: db.Statement.ConnPool, Context: db.Statement.Context,
		Schema: t.Schema, Table: BaseName(t.TableName), Clauses: make(map[string]clause.Clause),
	}
	if own.Statement.Table != t.TableName {
		own.Statement.TableExpr = &clause.Expr{SQL: own.Statement.Quote(t.TableName)}
	}
	return &Direct{own.Statement, t}
}

// Add appends SQL, in which every ? stands for a variable, an expression, a column or a table.
func (d *Direct) Add(sql string, vars ...any) *Direct {
	clause.Expr{SQL: sql, Vars: vars}.Build(d)
	return d
}

// Query runs a statement that reads, and hands every row to take. It explains the error of whatever
// fails: the statement, the reading of a row, or the end of the rows, where a database may report a
// deadlock.
func (d *Direct) Query(take func(*sql.Rows) error) error {
	var rows *sql.Rows
	ask := d.ConnPool.QueryContext
	if h, ok := d.ConnPool.(*txn.Handle); ok {
		ask = h.QueryOwn
	}
	err := d.run(func(query string, vars []any) (_ int64, err error) {
		//nolint:rowserrcheck,sqlclosecheck // Both are done below, on all paths.
		rows, err = ask(d.Context, query, vars...)
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

// Exec runs a statement that writes, and returns how many rows it has changed.
func (d *Direct) Exec() (affected int64, err error) {
	txn.NoteWrite(d.DB)
	write := d.ConnPool.ExecContext
	if h, ok := d.ConnPool.(*txn.Handle); ok {
		write = h.ExecOwn
	}
	err = d.run(func(query string, vars []any) (int64, error) {
		result, err := write(d.Context, query, vars...)
		if err == nil {
			affected, err = result.RowsAffected()
		}
		return affected, err
	})
	return affected, err
}

// inlined returns the statement and its variables. Where variables would cost another round trip,
// to prepare the statement, it writes them into the SQL if all have a plain [literal].
func (d *Direct) inlined() (query string, vars []any) {
	query = d.SQL.String()
	parts, text := strings.Split(query, "?"), new(strings.Builder)
	if !d.table.Dialect.PreparesVariables || d.DB.PrepareStmt || len(parts) != len(d.Vars)+1 {
		return query, d.Vars
	}
	for i, v := range d.Vars {
		value, ok := literal(v)
		if !ok {
			return query, d.Vars
		}
		text.WriteString(parts[i])
		text.WriteString(value)
	}
	text.WriteString(parts[len(d.Vars)])
	return text.String(), nil
}

// literal is a value in SQL: a whole number, a truth value, or a text that no character set and no
// mode of the server reads otherwise. There is none for a value that the driver would convert.
func literal(v any) (sql string, ok bool) {
	_, converts := v.(driver.Valuer)
	switch r := reflect.ValueOf(v); {
	case converts:
		return "", false
	case r.Kind() == reflect.Bool:
		return strconv.FormatBool(r.Bool()), true
	case r.CanInt() && r.Int() < 0:
		return "(" + strconv.FormatInt(r.Int(), 10) + ")", true // two signs would begin a comment
	case r.CanInt():
		return strconv.FormatInt(r.Int(), 10), true
	case r.CanUint():
		return strconv.FormatUint(r.Uint(), 10), true
	case r.Kind() == reflect.String:
		escapes := func(c rune) bool { return c < ' ' || c > '~' || c == '\'' || c == '\\' }
		return "'" + r.String() + "'", !strings.ContainsFunc(r.String(), escapes)
	}
	return "", false
}

// run runs the statement, tells GORM's log about it, and explains its error.
func (d *Direct) run(statement func(query string, vars []any) (rows int64, err error)) error {
	if d.DB.Error != nil {
		return d.DB.Error
	}
	if d.DB.DryRun {
		return gorm.ErrDryRunModeUnsupported
	}
	began := time.Now()
	rows, err := statement(d.inlined())
	Trace(d.DB, began, d.Statement, rows, err)
	return d.explained(err)
}

// Trace tells GORM's log about a statement as GORM does: without values if the log wants none.
func Trace(db *gorm.DB, began time.Time, stmt *gorm.Statement, rows int64, err error) {
	query, vars := stmt.SQL.String(), stmt.Vars
	db.Logger.Trace(stmt.Context, began, func() (string, int64) {
		if filter, ok := db.Logger.(gorm.ParamsFilter); ok {
			query, vars = filter.ParamsFilter(stmt.Context, query, vars...)
		}
		return db.Dialector.Explain(query, vars...), rows
	}, err)
}

// explained returns what a statement's error means to a caller. It rolls back a transaction that
// the error has ended, whatever the caller does with the error.
func (d *Direct) explained(err error) error {
	d.DB.Error = err
	txn.Explain(d.table.Dialect, d.DB, nil)
	if err != nil && !d.table.Dialect.Classify(err).IsOfAnother() {
		d.DB.Error = txn.Interrupted(d.Context, d.DB.Error)
	}
	return d.DB.Error
}

// One reads the only row of a statement into places.
func (d *Direct) One(places ...any) error {
	return d.first(func(rows *sql.Rows) error { return rows.Scan(places...) })
}

// Into reads the only row of a statement into a struct of the model, as GORM does.
func (d *Direct) Into(model reflect.Value) error {
	reader := d.DB.Session(&gorm.Session{NewDB: true, Context: d.Context}).Model(model.Interface())
	return d.first(func(rows *sql.Rows) error { return reader.ScanRows(rows, model.Interface()) })
}

// first calls read with the only row of a statement. Without one, the error is
// [gorm.ErrRecordNotFound].
func (d *Direct) first(read func(*sql.Rows) error) error {
	found := false
	err := d.Query(func(rows *sql.Rows) error {
		found = true
		return read(rows)
	})
	if err == nil && !found {
		return gorm.ErrRecordNotFound
	}
	return err
}

// UpdateDirect sets a column of the rows that match where, and returns how many these were.
func (t *Table) UpdateDirect(db *gorm.DB, set *schema.Field, value any, where clause.Expression) (int64, error) {
	return t.Direct(db).Add("UPDATE ? SET ? = ? WHERE ?", clause.Table{Name: t.TableName}, clause.Column{Name: set.DBName}, value, where).Exec()
}

// Source begins a statement that reads. Outside of a transaction it reads where dbresolver would
// write to the table, and not from a replica that may lag behind.
func (t *Table) Source(db *gorm.DB) *Direct {
	d := t.Direct(db)
	resolve := db.Callback().Row().Get(ResolverCallback)
	if _, running := db.Statement.ConnPool.(gorm.TxCommitter); !running && resolve != nil {
		chosen := db.Session(&gorm.Session{NewDB: true}).Set(sourceKey, struct{}{}).Model(t.Fresh())
		resolve(chosen)
		d.ConnPool = chosen.Statement.ConnPool
	}
	return d
}

// ResolverCallback is the name of the callback by which dbresolver chooses connections.
const ResolverCallback = "gorm:db_resolver"

// sourceKey is the setting by which dbresolver reads from a source, and not from a replica that may
// lag behind.
const sourceKey = "gorm:db_resolver:write"
