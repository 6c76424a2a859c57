package dialect

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// PostgreSQL is for PostgreSQL 13 and later.
var PostgreSQL = &Dialect{
	Name:           "postgres",
	Collation:      func(string) string { return `"C"` },
	PartialIndexes: true,
	ReturnsKeys:    true,
	CheckDeferred:  "SET CONSTRAINTS ALL IMMEDIATE",
	Millis:         "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
	Grammar:        postgresGrammar,
	row:            rowSQL{bool: true, bytes: `'\x%s'::bytea`},
	mark:           `"`,
	identity:       "SELECT version()",
	imitations:     postgresImitations,
	Numbers:        true,
	LockWait:       LockWait{Local: "SET LOCAL lock_timeout = %d", Unit: time.Millisecond},
	Hides:          "row-level security may hide rows from this role: connect as the table's owner, or as a role with BYPASSRLS",
	Share:          "FOR SHARE",
	Update:         "FOR UPDATE",
	UnionAll:       [3]string{"SELECT * FROM (", ") AS a UNION ALL SELECT * FROM (", ") AS b"},
	Binary:         `? COLLATE "C"`,
	Length:         "CHAR_LENGTH",
	Bytes:          "OCTET_LENGTH",
	Prefix:         `LEFT(?, ?) COLLATE "C" = ?`,
	Follow:         "? || '/' || ?",
	First:          "CAST(? AS TEXT) || ?",
	Isolation:      postgresIsolation,
	Refuse:         refusePostgres,
	Join:           joinTexts,
	// The type of a domain is its base type.
	ColumnTypes: "SELECT a.attname, COALESCE(b.typname, y.typname) FROM pg_attribute AS a JOIN pg_type AS y ON y.oid = a.atttypid LEFT JOIN pg_type AS b ON b.oid = y.typbasetype " +
		"WHERE a.attrelid = to_regclass(COALESCE(quote_ident(?) || '.', '') || quote_ident(?)) AND a.attnum > 0",
	AssignBelow: assignBelow,
	LockTop:     "pg_advisory_xact_lock(?)",
	ShareTop:    "pg_advisory_xact_lock_shared(?)",
	// "path" and "lock" in ASCII. Locks with two numbers never meet those of LockTop, with one.
	LockMigration:  "SELECT pg_try_advisory_xact_lock(1885434984, 1819239275)",
	LacksLocks:     func(error) bool { return false },
	Classify:       classifyPostgres,
	Refuses:        refusesPostgres,
	Duplicate:      duplicatePostgres,
	TooLong:        tooLongPostgres,
	Answered:       answeredByPostgres,
	Aborts:         true,
	MisjudgesLists: true,
}

// stateError is an error that a PostgreSQL server has answered with. The errors of pgx and of
// lib/pq both have that method.
type stateError interface {
	error
	SQLState() string
}

// SQLState returns the SQLSTATE of an error that a PostgreSQL server has answered with, "" for any
// other error.
func SQLState(err error) string {
	if e, ok := errors.AsType[stateError](err); ok {
		return e.SQLState()
	}
	return ""
}

// postgresField returns a text that the server sends with an error, "" for none. The drivers share
// no type: each has its own name for it. The message is in any language.
func postgresField(err error, names ...string) string {
	e, _ := errors.AsType[stateError](err)
	v := reflect.Indirect(reflect.ValueOf(e))
	for _, name := range names {
		if v.Kind() == reflect.Struct && v.FieldByName(name).Kind() == reflect.String {
			return v.FieldByName(name).String()
		}
	}
	return ""
}

// postgresRoutine returns the function of the server that an error comes from.
func postgresRoutine(err error) string { return postgresField(err, "Routine") }

// rolledBackByPostgres are the words of pgx and of lib/pq for the answer ROLLBACK to a COMMIT,
// after the failure of a statement.
var rolledBackByPostgres = []string{"commit unexpectedly resulted in rollback", "could not complete operation in a failed transaction"}

// answeredByPostgres reports whether an error is the server's answer to a COMMIT. A session that is
// terminated says so at any time: the server may have sent the message before it received the
// COMMIT, or after it carried that out. If a pooler has lost the server, the error is the pooler's.
func answeredByPostgres(err error) bool {
	state := SQLState(err)
	if state == "" {
		said := strings.ToLower(err.Error())
		return slices.ContainsFunc(rolledBackByPostgres, func(words string) bool { return strings.HasSuffix(said, words) })
	}
	return !slices.ContainsFunc(lostPostgres, func(class string) bool { return strings.HasPrefix(state, class) })
}

// lostPostgres begin the SQLSTATEs of sessions that have ended instead of answering.
var lostPostgres = []string{
	"08",    // connection exception: a pooler's, such as pgbouncer's 08P01
	"57P",   // the server is shutting down, or has ended the session
	"58",    // system error: a pooler's, or the server's panic
	"XX000", // internal error: a pooler's, such as Supavisor's
}

// postgresIsolation is the isolation level of the transaction, and the session's usual one.
const postgresIsolation = "current_setting('transaction_isolation') || '/' || current_setting('default_transaction_isolation')"

// refusePostgres judges isolation levels. After its first statement, one of a REPEATABLE READ or
// SERIALIZABLE transaction changes no row that was committed meanwhile, though it may lie below a
// row that the transaction has locked since. SERIALIZABLE notices that, but only if those who write
// the other rows are SERIALIZABLE, too.
func refusePostgres(isolation string) string {
	const serialisable = "serializable"
	level, usual, _ := strings.Cut(isolation, "/")
	switch {
	case level == "repeatable read":
		return "REPEATABLE READ, at which an UPDATE misses rows that others commit meanwhile: begin the transaction with sql.TxOptions{Isolation: sql.LevelReadCommitted}, " +
			"or set default_transaction_isolation to 'read committed'"
	case level == serialisable && usual != serialisable:
		return "SERIALIZABLE beside others at " + strings.ToUpper(usual) + ", whose commits it does not notice: leave the transaction at the usual level, " +
			"or set default_transaction_isolation to 'serializable' for everybody who writes the tree"
	case usual == serialisable && level != serialisable:
		return strings.ToUpper(level) + " beside others at SERIALIZABLE, which do not notice its commits: leave the transaction at the usual level"
	default:
		return ""
	}
}

// classifyPostgres reads the SQLSTATE.
// See https://www.postgresql.org/docs/current/errcodes-appendix.html.
func classifyPostgres(err error) Failure {
	state := SQLState(err)
	switch state {
	case "40001": // the transactions cannot be put in an order
		return FailureEnded
	case "40P01", // a deadlock, which a savepoint outlives
		"55P03": // lock_not_available
		return FailureRetry
	case "0A000": // feature_not_supported, which as a rule no further try changes
		// Somebody has altered a table since the driver prepared the statement. After this error
		// the driver prepares it anew.
		if postgresRoutine(err) == "RevalidateCachedQuery" {
			return FailureRetry
		}
	case "23505", "23P01": // a unique index, or an exclusion constraint, has the row
		return FailureDuplicate
	case "25P02": // in_failed_sql_transaction
		return FailureAborted
	case "23503", "23001": // foreign_key_violation, restrict_violation
		return FailureReference
	case "25006": // read_only_sql_transaction, as of a standby
		return FailureReadOnly
	}
	switch {
	case unfitPostgres(err, state):
		return FailureUnfit
	case slices.ContainsFunc(unavailablePostgres, func(class string) bool { return strings.HasPrefix(state, class) }):
		return FailureUnavailable
	default:
		return FailureOther
	}
}

// unavailablePostgres begin the SQLSTATEs by which the server says that it cannot serve.
var unavailablePostgres = []string{
	"08",    // connection exception
	"25P03", // idle_in_transaction_session_timeout
	"25P04", // transaction_timeout
	"28",    // invalid authorization
	"3D",    // no such database
	"42501", // insufficient_privilege
	"42P01", // undefined_table
	"53",    // insufficient resources: too many connections, disk full
	"57014", // query_canceled: by statement_timeout, or by somebody else
	"57P",   // the server is shutting down or starting, or has ended the session
	"58",    // system error
	"XX",    // internal error, corrupted data
}

// tooLongPostgres reads the SQLSTATE. The error names the index, not the column.
func tooLongPostgres(err error) (string, bool) {
	// 54000, program_limit_exceeded, has many causes.
	return "", SQLState(err) == "54000" && makesIndexRow.MatchString(postgresRoutine(err))
}

// makesIndexRow matches the functions of the server that refuse a long row of an index.
var makesIndexRow = regexp.MustCompile(`^(index_form_tuple|_bt_check_third_page)`)

// unfitPostgres reports whether the server says that a column cannot hold a value, or must not:
// class 22, to which NUL in a text belongs, NOT NULL, a CHECK, and an index row that is too long.
// pgx compares numbers with the column before it sends them.
func unfitPostgres(err error, state string) bool {
	_, tooLong := tooLongPostgres(err)
	walk(err, func(e error) { tooLong = tooLong || e.Error() == sqlTooLarge || tooLargeForPgx.MatchString(e.Error()) })
	return strings.HasPrefix(state, "22") || state == "23502" || state == "23514" || tooLong
}

// tooLargeForPgx is pgx's error for a number that a column cannot hold.
var tooLargeForPgx = regexp.MustCompile(`^failed to encode args\[\d+\]: unable to encode .+ (?:greater than maximum|less than minimum) value for int\d+$`)

// refusesPostgres goes by the classes of SQLSTATE: data, constraints, a trigger's own errors,
// limits such as that of an index row, and views WITH CHECK OPTION.
func refusesPostgres(err error) bool {
	state := SQLState(err)
	return len(state) == 5 && slices.Contains([]string{"22", "23", "P0", "54", "44"}, state[:2])
}

// postgresGrammar takes the END of a body for that of the transaction.
var postgresGrammar = &Grammar{
	Quotes: `'"`, Escaped: []string{"", "'"}, Dashes: regexp.MustCompile(`^--`), LineEnds: "\n\r", Dollars: true, Executes: never, StoredFunctions: true, Copies: never,
	RunsText: regexp.MustCompile(`(^|; )(SCRIPT|DO|CREATE (OR REPLACE )?(FUNCTION|PROCEDURE)) `), Hides: regexp.MustCompile(`\\|'\s*(--.*)?[\n\r]`),
	Ends: regexp.MustCompile(`^(SAVEPOINT|RELEASE|ROLLBACK|COMMIT|END|ABORT|PREPARE TRANSACTION) `), Stays: never,
}
