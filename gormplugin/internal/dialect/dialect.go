package dialect

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"gorm.io/gorm/clause"
)

// Dialect is what the plugin has to know of a database.
type Dialect struct {
	Name string
	// Share and Update are appended to a SELECT that locks the rows it reads. Both are empty where
	// a writing transaction is alone anyway.
	Share, Update RowLock
	// Newest is appended to a SELECT that must not be answered from an old snapshot, where not
	// every statement has its own.
	Newest RowLock
	// Both stands before, between and behind two SELECTs, each with a lock of its own, to make one
	// statement of them.
	Both [3]string
	// PrimaryKeyHint follows a table's name in a locking read that has to go by the primary key.
	PrimaryKeyHint string
	// NamesIndexes is set where a statement about a large part of a table ignores an index, and
	// locks the whole table, unless it names the index.
	NamesIndexes bool
	// MisjudgesLists is set where a planner that has no statistics, or plans a statement once for
	// all values, reads a whole table for a list of values, and compares each row with each value.
	MisjudgesLists bool
	// SoleWriter is set where the first write of a transaction keeps every other writer out until
	// the transaction ends. The plugin then takes no row locks: it makes sure that this write
	// precedes the reads that it relies on.
	SoleWriter bool
	// Binary compares a column, its argument, byte by byte, which suits ranges of an index in that
	// order. A column of another collation is still compared correctly, without the index.
	Binary string
	// Length is the function that counts a text's characters. Bytes is a faster one that never
	// returns less.
	Length, Bytes string
	// Prefix is the condition that a text begins with a given string, exact to the byte whatever
	// the column's collation. Its arguments are the column, the string's number of characters, and
	// the string.
	Prefix string
	// Follow joins a text, a slash and a key; First joins a string and a key. Both give a text of a
	// type that has room for the longest path. Their arguments are the text or string, and the key.
	Follow, First string
	// Join appends to a string the end of a column's text, from the given character on, counted
	// from 1.
	Join func(head string, column clause.Column, from int) clause.Expr
	// Numbered appends the number of the row to a string, its argument.
	Numbered string
	// Base is the last name of a path, which is a column.
	Base func(path clause.Column) clause.Expr
	// Assign is an UPDATE that joins rows of a table, called c in it, each with the row of others,
	// called p, that belongs to it, and sets columns of c to expressions of both. others is the
	// same table, or a query in parentheses.
	Assign func(others any, table clause.Table, set clause.Set, belongs, where clause.Expression) clause.Expr
	// Isolation is an expression for the transaction's isolation level and the session's usual one.
	// At levels where an UPDATE might miss rows below those that the assertion has locked, Refuse
	// says why and what to do instead. Both are empty where no level is unsafe.
	Isolation string
	Refuse    func(isolation string) string
	// AsksLater is set where a locking read waits at rows that others have not committed yet.
	// There, a write that puts a row at the top asks what is in its way after it has written.
	AsksLater bool
	// LockTop, unless nil, returns the columns and the source of a SELECT that locks the number of
	// a tree's top until the end of the transaction, and returns the isolation level.
	LockTop func(number int64, exclusive bool) []any
	// ChildrenFirst is set where foreign keys are checked row by row, so that a subtree may have to
	// be deleted from its leaves upwards.
	ChildrenFirst bool
	// ColumnTypes asks for the names of a table's columns and of their types. Its arguments are the
	// table's schema, NULL for the one that statements find it in, and its name. It is "" where
	// each text is a value of its own, whatever the type.
	ColumnTypes string
	// TextsNeedSize is set where a text column without a size cannot be indexed as a whole.
	TextsNeedSize bool
	// CommitsDDL is set where a statement that changes a table commits the transaction that it is
	// in.
	CommitsDDL bool
	// LockMigration is a SELECT that tries to take a lock of the database for a migration, and says
	// whether it could. EndMigration releases the lock; it is "" where the end of the transaction
	// does. Both are "" where migrations exclude each other without. LacksLocks reports whether an
	// error of LockMigration says that the server has no such locks.
	LockMigration, EndMigration string
	LacksLocks                  func(error) bool
	// Classify says what an error of the driver means.
	Classify func(error) Failure
	// Duplicate says which unique index an error of [FailureDuplicate] names.
	Duplicate func(error) Duplicate
	// unavailable reports whether an error of the driver says that the database cannot serve.
	unavailable func(error) bool
	// unfit reports whether an error of the driver says that a column cannot hold a value.
	unfit func(error) bool
	// Probe finds out whether an error has ended the transaction; nil where no error ends one
	// unseen.
	Probe *probe
	// TooLong says whether an error means that a value is too long for a column or an index: what
	// it names is "" where the error does not tell which.
	TooLong func(error) (names string, ok bool)
	// Grammar is how raw SQL is read.
	Grammar *rawsql.Grammar
	// Answered reports whether an error is the server's answer to a COMMIT, rather than the loss of
	// the connection or the announcement of it. It is nil where there is no connection to lose.
	Answered func(error) bool
	// Aborts is set where the server, after an error in a transaction, runs nothing in it until it
	// is rolled back, at least to a savepoint.
	Aborts bool
}

// dialects are the known ones.
var dialects = []*Dialect{&mysqlDialect, &postgresDialect, &sqliteDialect}

// Of returns the dialect with GORM's name for it.
func Of(name string) (*Dialect, error) {
	var known []string
	for _, d := range dialects {
		if d.Name == name {
			return d, nil
		}
		known = append(known, d.Name)
	}
	return nil, fmt.Errorf("%w: the dialect %q is not known; known are %s", fault.ErrUnsupportedDatabase, name, strings.Join(known, ", "))
}

// probe asks a database whether a transaction has ended.
type probe struct {
	// Harmless reports whether an error is known to leave the transaction open.
	Harmless func(error) bool
	// Open reports whether the transaction is open. An error means that it cannot be told.
	Open func(context.Context, *sql.Tx) (bool, error)
}

// RowLock is the end of a SELECT that locks the rows it reads. It takes the place of GORM's own
// clause.Locking, which writes FOR SHARE for servers that do not know it.
type RowLock string

// Name implements [clause.Interface].
func (RowLock) Name() string { return "FOR" }

// Build implements [clause.Expression].
func (l RowLock) Build(b clause.Builder) { _, _ = b.WriteString(string(l)) }

// MergeClause implements [clause.Interface]. Without a name, the clause is written as it stands.
func (l RowLock) MergeClause(c *clause.Clause) {
	c.Name = ""
	c.Expression = l
}

// baseByTrim finds where the last name of a path begins: it trims every character of the path but
// slashes off its end.
func baseByTrim(path clause.Column) clause.Expr {
	return clause.Expr{SQL: "SUBSTR(?, LENGTH(RTRIM(?, REPLACE(?, '/', ''))) + 1)", Vars: []any{path, path, path}}
}

// assignFrom is the form of PostgreSQL and, since its version 3.33, of SQLite.
func assignFrom(others any, table clause.Table, set clause.Set, belongs, where clause.Expression) clause.Expr {
	return clause.Expr{SQL: "UPDATE ? AS c ? FROM ? AS p WHERE ? AND ?", Vars: []any{table, set, others, belongs, where}}
}
