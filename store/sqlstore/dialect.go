package sqlstore

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// Dialect says which SQL a database speaks.
type Dialect string

// The dialects.
const (
	// MySQL is for MySQL 8.0 and later, and for MariaDB 10.6 and later, by go-sql-driver/mysql.
	MySQL Dialect = "mysql"
	// Postgres is for PostgreSQL 13 and later, by pgx or another driver.
	Postgres Dialect = "postgres"
	// SQLite is for SQLite 3.24 and later, by any driver.
	SQLite Dialect = "sqlite"
)

// dialect is what differs between the databases.
type dialect struct {
	// clock is the server's time in µs since 1970, "" where it is this host's.
	clock string
	// table creates the table, unless it is there.
	table string
	// notify is what an update ends in that has to tell other processes, "" where it cannot.
	notify string
	// is reports what an error of the server means.
	is func(err error) fault
	// hints say what to do about a fault.
	hints map[fault]string
}

// fault is what an error of a server means.
type fault int

const (
	other fault = iota
	// busy is for what succeeds when it is tried again.
	busy
	// duplicate is for a row that is there already.
	duplicate
	noTable
	noColumn
	readOnly
	forbidden
	tooLarge
)

// adviceTable is what to do where the table is missing.
const adviceTable = "no program has made the table: those with anystore do, others call Store.Create, and both need the right to create tables"

// hints returns what to do about faults that all databases have.
func hints(more map[fault]string) map[fault]string {
	all := map[fault]string{
		noTable: adviceTable, noColumn: adviceTable,
		forbidden: "the user needs SELECT, INSERT, UPDATE and DELETE on the table",
	}
	for f, hint := range more {
		all[f] = hint
	}
	return all
}

// dialectOf returns what is special about a dialect. Binary types keep collations, character sets
// and SQL modes out.
func dialectOf(d Dialect) (dialect, error) {
	switch d {
	case MySQL:
		return dialect{
			// It is when the statement began, whatever the session's time zone. A connection that
			// does not commit by itself gets none.
			clock: "IF(@@autocommit, TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6)), NULL)",
			// By the key, a sweep locks no more rows than it deletes.
			table: `CREATE TABLE IF NOT EXISTS {table} (
				tree BINARY(32) NOT NULL PRIMARY KEY, namespace VARBINARY(255) NOT NULL, id VARBINARY(255) NOT NULL,
				version BIGINT NOT NULL, fence BIGINT NOT NULL, ends BIGINT NOT NULL, tickets LONGBLOB NOT NULL,
				KEY {table}_ends (ends)
			) ENGINE = InnoDB`,
			is: mysqlFault,
			hints: hints(map[fault]string{
				readOnly: "a replica cannot serve, nor a session that only reads: name the primary",
				tooLarge: "raise max_allowed_packet, or lower sqlstore.WithMaxRequest",
			}),
		}, nil
	case Postgres:
		return dialect{
			// now() would be when the transaction began.
			clock: "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000)::bigint",
			// The free space keeps the new version of a row on its page.
			table: `CREATE TABLE IF NOT EXISTS {table} (
				tree bytea NOT NULL PRIMARY KEY, namespace bytea NOT NULL, id bytea NOT NULL,
				version bigint NOT NULL, fence bigint NOT NULL, ends bigint NOT NULL, tickets bytea NOT NULL
			) WITH (fillfactor = 50)`,
			notify: `WITH t AS ({update} RETURNING tree)
				SELECT (SELECT count(*) FROM t), (SELECT count(pg_notify(split_part(m, ' ', 1), split_part(m, ' ', 2)))
				FROM t, unnest(string_to_array(?::text, ',')) AS m)`,
			is:    postgresFault,
			hints: hints(map[fault]string{readOnly: "a standby cannot serve, nor a session that only reads: name the primary"}),
		}, nil
	case SQLite:
		return dialect{
			table: `CREATE TABLE IF NOT EXISTS {table} (
				tree BLOB NOT NULL PRIMARY KEY, namespace BLOB NOT NULL, id BLOB NOT NULL,
				version INTEGER NOT NULL, fence INTEGER NOT NULL, ends INTEGER NOT NULL, tickets BLOB NOT NULL
			)`,
			is:    sqliteFault,
			hints: hints(map[fault]string{readOnly: "the process has to be able to write the file and its folder"}),
		}, nil
	default:
		return dialect{}, fmt.Errorf("sqlstore: the dialect %q: give sqlstore.MySQL, sqlstore.Postgres or sqlstore.SQLite", d)
	}
}

// numbered returns a statement with PostgreSQL's placeholders, $1 for the first question mark.
func numbered(text string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		head, rest, found := strings.Cut(text, "?")
		b.WriteString(head)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		text = rest
	}
}

// mysqlFault knows the numbers of MySQL's and MariaDB's errors. See
// https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html.
func mysqlFault(err error) fault {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok {
		return other
	}
	switch e.Number {
	case 1213, // ER_LOCK_DEADLOCK
		1020, // ER_CHECKREAD: MariaDB's snapshot isolation found a row changed since the last read
		1205, // ER_LOCK_WAIT_TIMEOUT
		1637: // ER_TOO_MANY_CONCURRENT_TRXS
		return busy
	case 1062: // ER_DUP_ENTRY
		return duplicate
	case 1146: // ER_NO_SUCH_TABLE
		return noTable
	case 1054: // ER_BAD_FIELD_ERROR
		return noColumn
	case 1290, 1836, 1792: // ER_OPTION_PREVENTS_STATEMENT, ER_READ_ONLY_MODE, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
		return readOnly
	case 1142: // ER_TABLEACCESS_DENIED_ERROR
		return forbidden
	case 1153: // ER_NET_PACKET_TOO_LARGE
		return tooLarge
	default:
		return other
	}
}

// postgresFault knows the SQLSTATEs of PostgreSQL's errors, which those of pgx and of lib/pq have.
func postgresFault(err error) fault {
	type stateError interface {
		error
		SQLState() string
	}
	e, ok := errors.AsType[stateError](err)
	if !ok {
		return other
	}
	switch e.SQLState() {
	case "40001", // the transactions cannot be put in an order
		"40P01", // a deadlock
		"55P03": // lock_not_available, after lock_timeout
		return busy
	case "23505", "42P07", "42710": // the latter two for a table that others create at the same time, and its type
		return duplicate
	case "42P01":
		return noTable
	case "42703":
		return noColumn
	case "25006":
		return readOnly
	case "42501":
		return forbidden
	default:
		return other
	}
}

// sqliteFault knows the messages of SQLite, which every driver passes on: each has an error type of
// its own.
func sqliteFault(err error) fault {
	for f, messages := range map[fault][]string{
		busy:      {"database is locked", "database table is locked", "SQLITE_BUSY"},
		duplicate: {"UNIQUE constraint failed"},
		noTable:   {"no such table"},
		noColumn:  {"no such column", "has no column"},
		readOnly:  {"readonly database"},
	} {
		for _, m := range messages {
			if strings.Contains(err.Error(), m) {
				return f
			}
		}
	}
	return other
}
