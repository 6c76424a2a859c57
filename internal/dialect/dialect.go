// Package dialect knows how each database differs: its row locks, its SQL, the meaning of its
// errors, and how to identify it. It knows nothing of tables, transactions or trees.
//
// A further database is a further file with a [Dialect], and an entry in the list of those known.
package dialect

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Name is GORM's name for a database. MariaDB has MySQL's.
type Name string

// Dialect is what differs from database to database.
type Dialect struct {
	Name Name
	// mark is what names are quoted with.
	mark string
	// identity is the query that asks what the server is. imitations are products that answer it,
	// too.
	identity   string
	imitations []imitation
	// level asks for the name and the value of the session's isolation level. It is "" where no
	// session reads what others have not committed.
	level string
	// mistake is a query that the server answers with an error. It is "" where the errors of every
	// driver can be read.
	mistake string
	row     rowSQL
	// Millis is an expression for the server's time in milliseconds since 1970, whatever the
	// session's time zone.
	Millis string
	// Grammar is that of hand-written SQL.
	Grammar *Grammar
	// Numbers is set where arguments of a statement are numbered, as [Dialect.Bind] does.
	Numbers bool
	// Share and Update are appended to a SELECT that locks the rows it reads. Both are empty where
	// a writing transaction is alone anyway.
	Share, Update string
	// Newest is appended to a SELECT that must not be answered from an old snapshot, where a
	// statement may share the snapshot of an earlier one.
	Newest string
	// UnionAll is written before, between and behind two SELECTs, each with a lock of its own, to
	// make one statement of them.
	UnionAll [3]string
	// PrimaryKeyHint follows a table's name in a locking read that has to go by the primary key.
	PrimaryKeyHint string
	// NamesIndexes is set where a statement about a large part of a table ignores an index, and
	// locks the whole table, unless it names the index.
	NamesIndexes bool
	// PreparesVariables is set where the driver prepares each statement with variables for one use.
	PreparesVariables bool
	// MisjudgesLists is set where a planner without statistics, or with one plan for all values,
	// may read a whole table for a list of values, and compare each row with each value.
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
	// the column's collation is. Its arguments are the column, the string's number of characters,
	// and the string.
	Prefix string
	// Follow joins a text, a slash and a key; First joins a string and a key. Both give a text of a
	// type that has room for the longest path. Their arguments are the text or string, and the key.
	Follow, First string
	// Join appends to a string the end of a column's text, from a character on, counted from 1. Its
	// arguments are the string, the column and the number of the character.
	Join string
	// AssignBelow is an UPDATE that joins the rows of @table, called c, each with the row of
	// @others that @belongs to it, and sets columns of c by the clause @set, SET included, where
	// @where holds. It finds the rows of @others first, and those of @table by them: others are not
	// locked. AssignQualifies is set where the clause has to qualify its columns with c.
	AssignBelow     string
	AssignQualifies bool
	// Isolation is an expression for the transaction's isolation level and the session's usual one.
	// At levels where an UPDATE might miss rows below those that the assertion has locked, Refuse
	// says why and what to do instead. Both are empty where no level is unsafe.
	Isolation string
	Refuse    func(isolation string) string
	// AsksLater is set where a locking read waits for rows that others have not committed yet.
	// There, a write that puts a row at the top looks for conflicting rows after it has written.
	AsksLater bool
	// LockTop and ShareTop are functions that lock the number of a tree's top until the end of the
	// transaction, for the FROM of a SELECT of the isolation level. Both are "" where nothing has
	// to be locked.
	LockTop, ShareTop string
	// ChildrenFirst is set where foreign keys are checked row by row, so that a subtree may have to
	// be deleted from its leaves upwards.
	ChildrenFirst bool
	// ColumnTypes asks for the names of a table's columns and of their types. Its arguments are the
	// table's schema, NULL for the one that statements find it in, and its name. It is "" where
	// each text is a value of its own, whatever the type.
	ColumnTypes string
	// Collation returns, for a server's version, the collation that compares texts byte by byte.
	// CollatesKeys is set where names and keys need it, too, to be told apart. Collation is nil
	// where columns have it unless they state another.
	Collation    func(version string) string
	CollatesKeys bool
	// TextsNeedSize is set where a text column without a size cannot be indexed as a whole.
	TextsNeedSize bool
	// PartialIndexes is set where an index can be over the rows of a condition, without a generated
	// column.
	PartialIndexes bool
	// RemakesTables is set where GORM changes a table by making it anew.
	RemakesTables bool
	// AnyType is set where any column can hold a value of any type, except that one of affinity
	// TEXT holds no number.
	AnyType bool
	// AnyLength is set where a column can hold a text that is longer than its type says.
	AnyLength bool
	// ReturnsKeys is set where only RETURNING tells the key of a new row. Without it, SQLite tells
	// the number of the row, which need not be its key.
	ReturnsKeys bool
	// CheckDeferred is the statement that makes the database check deferred constraints at once; ""
	// where none is deferred.
	CheckDeferred string
	// HidesCascades is set where the rows that a DELETE counts lack those that ON DELETE CASCADE
	// removes before the statement comes to them.
	HidesCascades bool
	// CommitsDDL is set where a statement that changes a table commits the transaction that it is
	// in.
	CommitsDDL bool
	// LockMigration is a SELECT that tries to take a lock of the database for a migration, and says
	// whether it could. EndMigration releases the lock; it is "" where the end of the transaction
	// does. Both are "" where migrations exclude each other without a lock. LacksLocks reports
	// whether an error of LockMigration says that the server has no such locks.
	LockMigration, EndMigration string
	LacksLocks                  func(error) bool
	// LockWait bounds how long a transaction waits for a lock.
	LockWait LockWait
	// Hides says why a session sees other rows or values than a table has, if the catalogue says
	// that it does, and what to do.
	Hides string
	// Classify says what an error of the driver means.
	Classify func(error) Failure
	// Duplicate says which unique index an error of [FailureDuplicate] names.
	Duplicate func(error) Duplicate
	// Refuses reports whether an error says that the database refuses a row because of a
	// constraint, a trigger, or a limit. It may accept other rows.
	Refuses func(error) bool
	// Probe asks whether a transaction is still open; nil where no error ends one unseen. An error
	// means that nobody knows. Harmless reports whether an error of the driver is known to leave
	// the transaction open; nil where none is.
	Probe    func(context.Context, *sql.Tx) (open bool, err error)
	Harmless func(error) bool
	// TooLong reports whether an error means that a value is too long for a column or an index, and
	// which: names is "" if the error does not tell.
	TooLong func(error) (names string, ok bool)
	// Answered reports whether an error is the server's answer to a COMMIT, rather than the loss of
	// the connection or the announcement of it. It is nil where there is no connection to lose.
	Answered func(error) bool
	// Aborts is set where the server runs nothing more in a transaction after an error, until the
	// transaction is rolled back, at least to a savepoint.
	Aborts bool
}

// Read calls f with a read-only transaction that sees the database as it is at one instant.
func (d *Dialect) Read(ctx context.Context, db *sql.DB, f func(*sql.Tx) error) (err error) {
	opts := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	if d.SoleWriter {
		opts.Isolation = sql.LevelDefault
	}
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	defer func() {
		if ended := tx.Rollback(); ended != nil && !errors.Is(ended, sql.ErrTxDone) {
			err = errors.Join(err, ended)
		}
	}()
	return f(tx)
}

// dialects are the known ones.
var dialects = []*Dialect{MySQL, PostgreSQL, SQLite}

// Of returns the dialect of a database.
func Of(name Name) (*Dialect, error) {
	var known []string
	for _, d := range dialects {
		if d.Name == name {
			return d, nil
		}
		known = append(known, string(d.Name))
	}
	return nil, fmt.Errorf("the dialect %q is not known; known are %s", name, strings.Join(known, ", "))
}

// LockWait says how long a session waits for a lock.
type LockWait struct {
	// Session and Local limit that for the session or the transaction, in whole units. One of them
	// is "".
	Session, Local string
	Unit           time.Duration
}

// Quote quotes each part of a name such as "schema.table".
func (d *Dialect) Quote(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = d.QuotePart(part)
	}
	return strings.Join(parts, ".")
}

// QuotePart quotes a name that may contain dots.
func (d *Dialect) QuotePart(name string) string {
	return d.mark + strings.ReplaceAll(name, d.mark, d.mark+d.mark) + d.mark
}

// Bind numbers the question marks of a statement, where the database wants numbers. Those in names
// and texts are letters.
func (d *Dialect) Bind(query string) string {
	if !d.Numbers {
		return query
	}
	var b strings.Builder
	n, quote := 0, byte(0)
	for i := range len(query) {
		switch c := query[i]; {
		case c == '?' && quote == 0:
			n++
			b.WriteString("$" + strconv.Itoa(n))
			continue
		case c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		}
		b.WriteByte(query[i])
	}
	return b.String()
}

// The forms that PostgreSQL and SQLite share.
const (
	// assignBelow came to SQLite with version 3.33.
	assignBelow = "UPDATE @table @set FROM @others WHERE @belongs AND @where"
	joinTexts   = "? || SUBSTR(?, ?)"
)

// Grammar is what differs in hand-written SQL: its words, quotes and comments. A shape is a
// statement as package rawsql writes it.
type Grammar struct {
	// Quotes begin a string or a quoted name.
	Quotes string
	// Escaped has, for each setting of the server, the quotes in which a backslash takes the next
	// byte along.
	Escaped []string
	// Dashes and, if HashComments is set, # begin a comment, which ends before any of LineEnds.
	Dashes       *regexp.Regexp
	HashComments bool
	LineEnds     string
	// Executes finds, behind its mark, a comment that may be executed, such as /*!50000 … */.
	Executes *regexp.Regexp
	// Charsets is set where the connection may have another character set than UTF-8.
	Charsets bool
	// Dollars is set where there are $tag$ strings, E'strings', U&'strings' and U&"names".
	Dollars bool
	// StoredFunctions is set where a function that a SELECT calls may write.
	StoredFunctions bool
	// Copies finds, in SQL, the statement that copies rows to the table that a migrator makes anew.
	Copies *regexp.Regexp
	// RunsText finds, in a shape, a statement that runs a text, and Hides, in the SQL in lower
	// case, what may hide a name there.
	RunsText, Hides *regexp.Regexp
	// Ends finds, in a shape, what ends the transaction or a part of it, and Stays what does not
	// after all.
	Ends, Stays *regexp.Regexp
}

// never matches nothing.
var never = regexp.MustCompile(`$.`)
