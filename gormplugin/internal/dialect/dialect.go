package dialect

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"gorm.io/gorm/clause"
)

// Dialect is what the plugin has to know of a database. A further database is a further entry in
// dialects.
type Dialect struct {
	Name string
	// Share and update are appended to a SELECT that locks the rows it reads.
	// Both are empty where a writing transaction is alone anyway.
	Share, Update RowLock
	// Newest is appended to a SELECT that must not be answered from an old snapshot, where not
	// every statement has its own.
	Newest RowLock
	// Both are what stands before, between and behind two SELECTs with a lock of their own each
	// that are one statement.
	Both [3]string
	// PrimaryKeyHint follows a table's name in a locking read that has to go by the primary key.
	PrimaryKeyHint string
	// NamesIndexes is set where a statement that is about a large part of a table leaves an index
	// aside, and locks the whole table, unless it names the index.
	NamesIndexes bool
	// MisjudgesLists is set where a planner that has no statistics, or plans a statement once for
	// all values, reads a whole table for a list of values, and compares each row with each value.
	MisjudgesLists bool
	// SoleWriter is set where the first write of a transaction keeps every other writer out until
	// its end. Instead of row locks the plugin then makes sure that this write comes before the
	// reads that it relies on.
	SoleWriter bool
	// Binary, whose argument is a column, is the column compared byte by byte, for ranges of an
	// index that is in this order. A column of another collation is still compared right, without
	// the index.
	Binary string
	// Length is the function that counts a text's characters, and bytes one that is faster and
	// never gives less.
	Length, Bytes string
	// Prefix is a condition, exact to the byte whatever the column's
	// collation, that a text's first characters are a given string: its
	// arguments are the column, the number of characters, and the string.
	Prefix string
	// Follow is the text that a text, a slash and a key make, and first the one of a string and a
	// key: of a type that has room for the longest path. Their arguments are these.
	Follow, First string
	// Join is the text that a string and the end of a column's text make, the column's part
	// beginning with the given character, counted from 1.
	Join func(head string, column clause.Column, from int) clause.Expr
	// Numbered is the text that a string and the number of the row make; its argument is the
	// string.
	Numbered string
	// Base is the last name of a path, which is a column.
	Base func(path clause.Column) clause.Expr
	// Assign is an UPDATE of rows of a table, which are called c in it, that sets columns to what
	// is known of c and of the row, called p, of others that belongs to each; others is the same
	// table, or a query in parentheses.
	Assign func(others any, table clause.Table, set clause.Set, belongs, where clause.Expression) clause.Expr
	// Isolation is an expression for the transaction's isolation level and the session's usual one,
	// and refuse says why, and what to do instead, where an UPDATE might miss rows below those that
	// the assertion has locked. Both are empty where no level is unsafe.
	Isolation string
	Refuse    func(isolation string) string
	// AsksLater is set where a locking read stops at rows of others that are not committed yet, so
	// that what is in the way of a row at the top is asked for when that is written; lockTop,
	// unless nil, are the columns and the source of a SELECT that takes a lock on the number of a
	// tree's top until the end of the transaction, and returns the isolation level.
	AsksLater bool
	LockTop   func(number int64, exclusive bool) []any
	// ChildrenFirst is set where foreign keys are checked row by row, so that a
	// subtree has to be deleted from its leaves upwards.
	ChildrenFirst bool
	// TextsNeedSize is set where a text column without a size cannot be indexed as a whole.
	TextsNeedSize bool
	// CommitsDDL is set where a statement that changes a table commits the transaction that it is
	// in.
	CommitsDDL bool
	// Classify says what an error of the driver means.
	Classify func(error) Failure
	// unavailable reports whether an error of the driver says that the database cannot serve.
	unavailable func(error) bool
	// unfit reports whether an error of the driver says that a column cannot hold a value.
	unfit func(error) bool
	// Said returns the error of the database that a text quotes, nil if it quotes none.
	Said func(text string) error
	// Probe finds out whether an error has ended the transaction; nil where no error ends one
	// unseen.
	Probe *probe
	// TooLong says whether an error means that a value is too long for a column or an index: what
	// it names is "" where the error does not tell which.
	TooLong func(error) (names string, ok bool)
	// Grammar is how raw SQL is read.
	Grammar *rawsql.Grammar
	// Answered reports whether an error is what the server answered to a COMMIT, rather than the
	// loss of the connection that the answer would have come by, or the server's last word on it;
	// nil where there is no connection to be lost.
	Answered func(error) bool
	// Aborts is set where, after an error of the server, nothing is run in a transaction until it
	// is rolled back, or back to a savepoint.
	Aborts bool
}
