package sqlstore

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Dialect says which SQL a database speaks.
type Dialect = dialect.Name

// The dialects.
const (
	// MySQL is for MySQL 8.0 and later, and for MariaDB 10.6 and later, by go-sql-driver/mysql.
	MySQL Dialect = "mysql"
	// Postgres is for PostgreSQL 13 and later, by pgx or another driver.
	Postgres Dialect = "postgres"
	// SQLite is for SQLite 3.24 and later, by any driver.
	SQLite Dialect = "sqlite"
)

// database is what differs between the databases.
type database struct {
	*dialect.Dialect
	// clock is the server's time in µs since 1970, "" where it is this host's.
	clock string
	// onlyReads is an expression that is true where the server or the session only reads.
	onlyReads string
	// table creates the table, unless it is there.
	table string
	// sweep removes rows that are {old}, at most as many as its argument says.
	sweep string
	// notify ends an update that has to tell other processes, "" where the database cannot.
	notify string
	// says returns how the server names an error, and faults what its names mean.
	says   func(error) string
	faults map[string]fault
	// toWrite is what to do where the server or the session only reads.
	toWrite string
}

// fault is what an error of a server means.
type fault int

const (
	// busy is for what succeeds when it is tried again. 0 is any other fault.
	busy fault = iota + 1
	// duplicate is for a row that is there already.
	duplicate
	noTable
	noColumn
	readOnly
	forbidden
	tooLarge
)

// hints are what to do about a fault, beside a database's own.
var hints = map[fault]string{
	noTable:   "no program has made the table: those with anystore do at its first use, others call Store.Create, and both need the right to create tables",
	noColumn:  "it is not a table of locks: drop it, and create one with Store.Create",
	forbidden: "the user needs SELECT, INSERT, UPDATE and DELETE on the table or, if there is none yet, the right to create tables",
	tooLarge:  "raise max_allowed_packet",
}

// sweepByKey is a sweep where DELETE has no LIMIT. Rows that are written meanwhile stay.
const sweepByKey = "DELETE FROM {table} WHERE {old} AND tree IN (SELECT tree FROM {table} WHERE {old} LIMIT ?)"

// databaseOf returns what is special about one. Binary types keep collations, character sets
// and SQL modes out.
func databaseOf(d Dialect) (database, error) {
	switch d {
	case MySQL:
		return database{
			Dialect: dialect.MySQL,
			// It is when the statement began, whatever the session's time zone. A connection that
			// does not commit by itself gets none.
			clock:     "IF(@@autocommit, TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6)), NULL)",
			onlyReads: "CONCAT(@@read_only) NOT IN ('0', 'OFF')",
			// By the key, a sweep locks no more rows than it deletes.
			table: `CREATE TABLE IF NOT EXISTS {table} (
				tree BINARY(32) NOT NULL PRIMARY KEY, namespace VARBINARY(255) NOT NULL, id VARBINARY(255) NOT NULL,
				version BIGINT NOT NULL, fence BIGINT NOT NULL, ends BIGINT NOT NULL, tickets LONGBLOB NOT NULL,
				KEY {table}_ends (ends)
			) ENGINE = InnoDB`,
			sweep: "DELETE FROM {table} WHERE {old} LIMIT ?",
			// ER_NO_SUCH_TABLE, ER_BAD_FIELD_ERROR, ER_TABLEACCESS_DENIED_ERROR and
			// ER_NET_PACKET_TOO_LARGE
			says:    func(err error) string { return strconv.Itoa(int(dialect.MySQLNumber(err))) },
			faults:  map[string]fault{"1146": noTable, "1054": noColumn, "1142": forbidden, "1153": tooLarge},
			toWrite: "neither a replica nor a read-only session can serve: name the primary",
		}, nil
	case Postgres:
		return database{
			Dialect: dialect.PostgreSQL,
			// now() would be when the transaction began.
			clock:     "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint",
			onlyReads: "current_setting('transaction_read_only') = 'on'",
			// The free space keeps the new version of a row on its page, where no index of its own
			// has to know it: a key of ends would cost each update more than a scan costs a sweep.
			table: `CREATE TABLE IF NOT EXISTS {table} (
				tree bytea NOT NULL PRIMARY KEY, namespace bytea NOT NULL, id bytea NOT NULL,
				version bigint NOT NULL, fence bigint NOT NULL, ends bigint NOT NULL, tickets bytea NOT NULL
			) WITH (fillfactor = 50)`,
			sweep: sweepByKey,
			notify: `WITH t AS ({update} RETURNING tree)
				SELECT (SELECT count(*) FROM t), (SELECT count(pg_notify(split_part(m, ' ', 1), split_part(m, ' ', 2)))
				FROM t, unnest(string_to_array(?::text, ',')) AS m)`,
			says: dialect.SQLState,
			faults: map[string]fault{
				"42P07": duplicate, "42710": duplicate, // a table that others create at the same time, and its type
				"42P01": noTable, "42703": noColumn, "42501": forbidden,
			},
			toWrite: "neither a standby nor a read-only session can serve: name the primary",
		}, nil
	case SQLite:
		return database{
			Dialect:   dialect.SQLite,
			onlyReads: "0",
			table: `CREATE TABLE IF NOT EXISTS {table} (
				tree BLOB NOT NULL PRIMARY KEY, namespace BLOB NOT NULL, id BLOB NOT NULL,
				version INTEGER NOT NULL, fence INTEGER NOT NULL, ends INTEGER NOT NULL, tickets BLOB NOT NULL
			)`,
			sweep:   sweepByKey,
			says:    sqliteSays,
			faults:  map[string]fault{"no such table": noTable, "no such column": noColumn, "has no column": noColumn, "readonly database": readOnly},
			toWrite: "the process needs the right to write the file and its folder",
		}, nil
	default:
		return database{}, fmt.Errorf("sqlstore: unknown dialect %q: give sqlstore.MySQL, sqlstore.Postgres or sqlstore.SQLite", d)
	}
}

// is reports what an error of the server means.
func (d database) is(err error) fault {
	switch f := d.Classify(err); {
	case f.IsRetryable():
		return busy
	case f == dialect.FailureDuplicate:
		return duplicate
	case errors.Is(err, errReadOnly), f == dialect.FailureReadOnly:
		return readOnly
	default:
		return d.faults[d.says(err)]
	}
}

// sqliteSays finds the words of SQLite in an error: each driver has an error type of its own, and
// passes them on.
func sqliteSays(err error) string { return sqliteWords.FindString(err.Error()) }

var sqliteWords = regexp.MustCompile("no such table|no such column|has no column|readonly database")
