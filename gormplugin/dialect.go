package gormplugin

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"gorm.io/gorm/clause"
)

// dialect is what the plugin has to know of a database. A further database is a further entry in
// dialects.
type dialect struct {
	name string
	// share and update are appended to a SELECT that locks the rows it reads.
	// Both are empty where a writing transaction is alone anyway.
	share, update rowLock
	// newest is appended to a SELECT that must not be answered from an old snapshot, where not
	// every statement has its own.
	newest rowLock
	// both are what stands before, between and behind two SELECTs with a lock of their own each
	// that are one statement.
	both [3]string
	// primaryKeyHint follows a table's name in a locking read that has to go by the primary key.
	primaryKeyHint string
	// namesIndexes is set where a statement that is about a large part of a table leaves an index
	// aside, and locks the whole table, unless it names the index.
	namesIndexes bool
	// misjudgesLists is set where a planner that has no statistics, or plans a statement once for all
	// values, reads a whole table for a list of values, and compares each row with each value.
	misjudgesLists bool
	// soleWriter is set where the first write of a transaction keeps every other writer out until
	// its end. Instead of row locks the plugin then makes sure that this write comes before the
	// reads that it relies on.
	soleWriter bool
	// binary, whose argument is a column, is the column compared byte by byte, for ranges of an
	// index that is in this order. A column of another collation is still compared right, without
	// the index.
	binary string
	// length is the function that counts a text's characters, and bytes one that is faster and
	// never gives less.
	length, bytes string
	// prefix is a condition, exact to the byte whatever the column's
	// collation, that a text's first characters are a given string: its
	// arguments are the column, the number of characters, and the string.
	prefix string
	// follow is the text that a text, a slash and a key make, and first the one of a string and a
	// key: of a type that has room for the longest path. Their arguments are these.
	follow, first string
	// join is the text that a string and the end of a column's text make, the column's part
	// beginning with the given character, counted from 1.
	join func(head string, column clause.Column, from int) clause.Expr
	// numbered is the text that a string and the number of the row make; its argument is the
	// string.
	numbered string
	// base is the last name of a path, which is a column.
	base func(path clause.Column) clause.Expr
	// assign is an UPDATE of rows of a table, which are called c in it, that sets columns to what
	// is known of c and of the row, called p, of others that belongs to each; others is the same
	// table, or a query in parentheses.
	assign func(others any, table clause.Table, set clause.Set, belongs, where clause.Expression) clause.Expr
	// isolation is an expression for the transaction's isolation level and the session's usual one,
	// and refuse says why, and what to do instead, where an UPDATE might miss rows below those that
	// the assertion has locked. Both are empty where no level is unsafe.
	isolation string
	refuse    func(isolation string) string
	// asksLater is set where a locking read stops at rows of others that are not committed yet, so
	// that what is in the way of a row at the top is asked for when that is written; lockTop,
	// unless nil, are the columns and the source of a SELECT that takes a lock on the number of a
	// tree's top until the end of the transaction, and returns the isolation level.
	asksLater bool
	lockTop   func(number int64, exclusive bool) []any
	// childrenFirst is set where foreign keys are checked row by row, so that a
	// subtree has to be deleted from its leaves upwards.
	childrenFirst bool
	// textsNeedSize is set where a text column without a size cannot be indexed as a whole.
	textsNeedSize bool
	// commitsDDL is set where a statement that changes a table commits the transaction that it is
	// in.
	commitsDDL bool
	// classify says what an error of the driver means.
	classify func(error) failure
	// unavailable reports whether an error of the driver says that the database cannot serve.
	unavailable func(error) bool
	// unfit reports whether an error of the driver says that a column cannot hold a value.
	unfit func(error) bool
	// said returns the error of the database that a text quotes, nil if it quotes none.
	said func(text string) error
	// probe finds out whether an error has ended the transaction; nil where no error ends one
	// unseen.
	probe *probe
	// tooLong says whether an error means that a value is too long for a column or an index: what
	// it names is "" where the error does not tell which.
	tooLong func(error) (names string, ok bool)
	// grammar is how raw SQL is read.
	grammar *rawsql.Grammar
	// answered reports whether an error is what the server answered to a COMMIT, rather than the
	// loss of the connection that the answer would have come by, or the server's last word on it;
	// nil where there is no connection to be lost.
	answered func(error) bool
	// aborts is set where, after an error of the server, nothing is run in a transaction until it
	// is rolled back, or back to a savepoint.
	aborts bool
}

// failure is what an error of the database means for a transaction.
type failure uint8

const (
	// failureOther: nothing that the plugin handles.
	failureOther failure = iota
	// failureRetry: the statement lost to another transaction; the whole should be run again.
	failureRetry
	// failureEnded: as failureRetry, and the transaction can only be rolled back. MySQL has done so
	// already: a further statement on the connection would commit by itself.
	failureEnded
	// failureDuplicate: a unique index refused a row.
	failureDuplicate
	// failureAborted: an earlier statement of the transaction failed.
	failureAborted
)

// isRetryable reports whether the whole should be run again.
func (f failure) isRetryable() bool { return f == failureRetry || f == failureEnded }

var dialects = []dialect{
	{
		// MySQL 8 and later, MariaDB 10.6 and later. LOCK IN SHARE MODE, since MariaDB does not
		// know FOR SHARE.
		name:           "mysql",
		share:          "LOCK IN SHARE MODE",
		update:         "FOR UPDATE",
		newest:         "LOCK IN SHARE MODE",
		both:           [3]string{"(", ") UNION ALL (", ")"},
		primaryKeyHint: "FORCE INDEX (PRIMARY)",
		namesIndexes:   true,
		binary:         "?",
		length:         "CHAR_LENGTH",
		bytes:          "LENGTH",
		follow:         "CONCAT(?, '/', ?)",
		first:          "CAST(CONCAT(?, ?) AS CHAR(16000))",
		prefix:         "CONVERT(LEFT(?, ?) USING utf8mb4) = CAST(CONVERT(? USING utf8mb4) AS BINARY)",
		join: func(head string, column clause.Column, from int) clause.Expr {
			return clause.Expr{SQL: "CONCAT(?, SUBSTRING(?, ?))", Vars: []any{head, column, from}}
		},
		numbered: "CONCAT(?, ROW_NUMBER() OVER ())",
		base: func(path clause.Column) clause.Expr {
			return clause.Expr{SQL: "SUBSTRING_INDEX(?, '/', -1)", Vars: []any{path}}
		},
		assign:        assignByJoin,
		asksLater:     true,
		childrenFirst: true,
		textsNeedSize: true,
		commitsDDL:    true,
		classify:      classifyMySQL,
		probe:         probeMySQL(),
		tooLong:       tooLongMySQL,
		grammar:       &rawsql.MySQL,
		answered:      answeredByMySQL,
		unavailable:   unavailableMySQL,
		unfit:         unfitMySQL,
		said:          saidMySQL,
	},
	{
		// PostgreSQL 13 and later.
		name:      "postgres",
		share:     "FOR SHARE",
		update:    "FOR UPDATE",
		both:      [3]string{"SELECT * FROM (", ") AS a UNION ALL SELECT * FROM (", ") AS b"},
		binary:    `? COLLATE "C"`,
		length:    "CHAR_LENGTH",
		bytes:     "OCTET_LENGTH",
		prefix:    `LEFT(?, ?) COLLATE "C" = ?`,
		follow:    "? || '/' || ?",
		first:     "CAST(? AS TEXT) || ?",
		isolation: postgresIsolation,
		refuse:    refusePostgres,
		join: func(head string, column clause.Column, from int) clause.Expr {
			return clause.Expr{SQL: "? || SUBSTR(?, ?)", Vars: []any{head, column, from}}
		},
		numbered:       "CAST(? AS TEXT) || ROW_NUMBER() OVER ()",
		base:           baseByTrim,
		assign:         assignFrom,
		lockTop:        lockTopPostgres,
		classify:       classifyPostgres,
		tooLong:        tooLongPostgres,
		grammar:        &rawsql.PostgreSQL,
		answered:       answeredByPostgres,
		unavailable:    unavailablePostgres,
		unfit:          unfitPostgres,
		said:           saidPostgres,
		aborts:         true,
		misjudgesLists: true,
	},
	{
		name:       "sqlite",
		soleWriter: true,
		both:       [3]string{"", " UNION ALL ", ""},
		binary:     "?",
		length:     "LENGTH",
		bytes:      "LENGTH",
		follow:     "? || '/' || ?",
		first:      "? || ?",
		prefix:     "SUBSTR(?, 1, ?) = ? COLLATE BINARY",
		join: func(head string, column clause.Column, from int) clause.Expr {
			return clause.Expr{SQL: "? || SUBSTR(?, ?)", Vars: []any{head, column, from}}
		},
		numbered:    "? || ROW_NUMBER() OVER ()",
		base:        baseByTrim,
		assign:      assignFrom,
		classify:    classifySQLite,
		unavailable: unavailableSQLite,
		unfit:       unfitSQLite,
		said:        saidLost,
		probe:       probeSQLite(),
		grammar:     &rawsql.SQLite,
	},
}

// dialectOf returns the dialect with GORM's name for it.
func dialectOf(name string) (*dialect, error) {
	var known []string
	for i := range dialects {
		if dialects[i].name == name {
			return &dialects[i], nil
		}
		known = append(known, dialects[i].name)
	}
	return nil, fmt.Errorf("%w: the dialect %q is not known; known are %s", fault.ErrUnsupportedDatabase, name, strings.Join(known, ", "))
}

// baseByTrim takes everything but slashes off the end of a path to find out where its last name
// begins.
func baseByTrim(path clause.Column) clause.Expr {
	return clause.Expr{SQL: "SUBSTR(?, LENGTH(RTRIM(?, REPLACE(?, '/', ''))) + 1)", Vars: []any{path, path, path}}
}

// assignByJoin is MySQL's form of an UPDATE with values of other rows. A clause.Set writes its own
// SET.
func assignByJoin(others any, table clause.Table, set clause.Set, belongs, where clause.Expression) clause.Expr {
	set = slices.Clone(set)
	for i := range set {
		set[i].Column.Table = "c"
	}
	return clause.Expr{SQL: "UPDATE ? AS c JOIN ? AS p ON ? ? WHERE ?", Vars: []any{table, others, belongs, set, where}}
}

// assignFrom is the form of PostgreSQL and, since its version 3.33, of SQLite.
func assignFrom(others any, table clause.Table, set clause.Set, belongs, where clause.Expression) clause.Expr {
	return clause.Expr{SQL: "UPDATE ? AS c ? FROM ? AS p WHERE ? AND ?", Vars: []any{table, set, others, belongs, where}}
}

// classifyMySQL reads the error numbers of MySQL and MariaDB.
func classifyMySQL(err error) failure {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return failureOther
	}
	switch e.Number {
	case 1213, // ER_LOCK_DEADLOCK
		1467, // ER_AUTOINC_READ_FAILED: a deadlock over the lock that INSERT … SELECT takes on the next key
		1020: // ER_CHECKREAD: MariaDB's snapshot isolation found a row changed since the last read
		return failureEnded
	case 1205, // ER_LOCK_WAIT_TIMEOUT
		3572, // ER_LOCK_NOWAIT
		1637: // ER_TOO_MANY_CONCURRENT_TRXS
		return failureRetry
	case 1062, // ER_DUP_ENTRY
		1586: // ER_DUP_ENTRY_WITH_KEY_NAME
		return failureDuplicate
	default:
		return failureOther
	}
}

// answeredByMySQL reports whether an error is the server's answer. A session that is ended while it
// commits says so, whether or not it has committed by then.
func answeredByMySQL(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return false
	}
	switch e.Number {
	case 1053, // ER_SERVER_SHUTDOWN
		1317, // ER_QUERY_INTERRUPTED
		1927, // ER_CONNECTION_KILLED of MariaDB
		3169: // ER_SESSION_WAS_KILLED of MySQL
		return false
	}
	return true
}

// sqlState is what the errors of PostgreSQL's servers are, in pgx and in lib/pq.
type sqlState interface {
	error
	SQLState() string
}

// answeredByPostgres reports whether an error is the server's answer. A session that is ended says
// so at any time, by a message that may have been sent before the COMMIT came, or after it was
// done.
func answeredByPostgres(err error) bool {
	e, ok := errors.AsType[sqlState](err)
	if !ok {
		return false
	}
	switch e.SQLState() {
	case "57P01", // admin_shutdown: of the server, or of this session by pg_terminate_backend
		"57P02": // crash_shutdown
		return false
	}
	return true
}

// postgresIsolation is the isolation level of the transaction, and the session's usual one.
const postgresIsolation = "current_setting('transaction_isolation') || '/' || current_setting('default_transaction_isolation')"

// refusePostgres judges isolation levels. After its first statement, one of a REPEATABLE READ or
// SERIALIZABLE transaction changes no row that was committed meanwhile, though it may lie below a
// row that the transaction has locked since. SERIALIZABLE notices that, but only where those who
// write the other rows are SERIALIZABLE, too.
func refusePostgres(isolation string) string {
	const serialisable = "serializable"
	level, usual, _ := strings.Cut(isolation, "/")
	switch {
	case level == "repeatable read":
		return "REPEATABLE READ, at which an UPDATE misses rows that were committed meanwhile: begin the transaction with sql.TxOptions{Isolation: sql.LevelReadCommitted}, " +
			"or set default_transaction_isolation to 'read committed'"
	case level == serialisable && usual != serialisable:
		return "SERIALIZABLE beside others at " + strings.ToUpper(usual) + ", of which it does not notice what they commit meanwhile: leave the transaction at the usual level, " +
			"or set default_transaction_isolation to 'serializable' for everybody who writes the tree"
	case usual == serialisable && level != serialisable:
		return strings.ToUpper(level) + " beside others at SERIALIZABLE, which do not notice what it commits meanwhile: leave the transaction at the usual level"
	default:
		return ""
	}
}

// classifyPostgres reads the SQLSTATE, which pgx and lib/pq give in the same way.
// See https://www.postgresql.org/docs/current/errcodes-appendix.html.
func classifyPostgres(err error) failure {
	e, ok := errors.AsType[sqlState](err)
	if !ok {
		return failureOther
	}
	switch e.SQLState() {
	case "40001", // the transactions cannot be put in an order
		"40P01": // a deadlock
		return failureEnded
	case "55P03": // a lock was not to be had
		return failureRetry
	case "0A000": // feature_not_supported, which stands for much that is never to be had
		// Somebody has changed a table since the driver prepared the statement, which it prepares
		// anew after this error.
		if strings.Contains(err.Error(), "cached plan must not change result type") {
			return failureRetry
		}
		return failureOther
	case "23505": // a unique index has the row
		return failureDuplicate
	case "25P02": // in_failed_sql_transaction
		return failureAborted
	default:
		return failureOther
	}
}

// classifySQLite reads SQLite's messages, which every driver passes on, whereas each has an error
// type of its own.
func classifySQLite(err error) failure {
	switch text := err.Error(); {
	case strings.Contains(text, "database is locked"), strings.Contains(text, "database table is locked"):
		return failureRetry
	case strings.Contains(text, "UNIQUE constraint failed"):
		return failureDuplicate
	default:
		return failureOther
	}
}

// rowLock is the end of a SELECT that locks the rows it reads. It takes the place of GORM's own
// clause.Locking, which writes FOR SHARE for servers that do not know it.
type rowLock string

// Name implements [clause.Interface].
func (rowLock) Name() string { return "FOR" }

// Build implements [clause.Expression].
func (l rowLock) Build(b clause.Builder) { _, _ = b.WriteString(string(l)) }

// MergeClause implements [clause.Interface]. Without a name, the clause is written as it stands.
func (l rowLock) MergeClause(c *clause.Clause) {
	c.Name = ""
	c.Expression = l
}
