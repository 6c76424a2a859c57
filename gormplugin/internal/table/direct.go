package table

import (
	"database/sql"
	"reflect"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
)

// Direct is a statement of the plugin's own on a guarded table: see [txn.Own]. Conditions and
// columns that other plugins add to everybody's statements must not get into it.
type Direct struct {
	txn.Own
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
	return &Direct{txn.Own{Statement: own.Statement, Dialect: t.Dialect}, t}
}

// Add appends SQL, in which every ? stands for a variable, an expression, a column or a table.
func (d *Direct) Add(sql string, vars ...any) *Direct {
	clause.Expr{SQL: sql, Vars: vars}.Build(d)
	return d
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
	if _, running := db.Statement.ConnPool.(gorm.TxCommitter); running || resolve == nil {
		return d
	}
	chosen := db.Session(&gorm.Session{NewDB: true}).Set(sourceKey, struct{}{}).Model(t.Fresh())
	if err := chosen.Statement.Parse(chosen.Statement.Model); err != nil {
		_ = d.AddError(err)
		return d
	}
	resolve(chosen)
	d.ConnPool = chosen.Statement.ConnPool
	return d
}

// ResolverCallback is the name of the callback by which dbresolver chooses connections.
const ResolverCallback = "gorm:db_resolver"

// sourceKey is the setting by which dbresolver reads from a source, and not from a replica that may
// lag behind.
const sourceKey = "gorm:db_resolver:write"
