package dialect

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// MySQL is for MySQL 8 and later, and MariaDB 10.6 and later.
var MySQL = &Dialect{
	Name:         "mysql",
	Collation:    mysqlCollation,
	CollatesKeys: true,
	Millis:       "CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)",
	Grammar:      mysqlGrammar,
	row:          rowSQL{bits: true, bytes: "x'%s'"},
	mark:         "`",
	identity:     "SELECT CONCAT(VERSION(), ' ', COALESCE(@@version_comment, ''))",
	imitations:   mysqlImitations,
	level:        "SHOW VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')", // MySQL's name, and MariaDB's
	mistake:      "SELECT (",
	LockWait:     LockWait{Session: "SET SESSION innodb_lock_wait_timeout = %[1]d, lock_wait_timeout = %[1]d", Unit: time.Second},
	Hides:        "the sql_mode PAD_CHAR_TO_FULL_LENGTH adds spaces to what CHAR columns hold: set another sql_mode in the URL",
	// MariaDB does not know FOR SHARE.
	Share:             "LOCK IN SHARE MODE",
	Update:            "FOR UPDATE",
	Newest:            "LOCK IN SHARE MODE",
	UnionAll:          [3]string{"(", ") UNION ALL (", ")"},
	PrimaryKeyHint:    "FORCE INDEX (PRIMARY)",
	NamesIndexes:      true,
	PreparesVariables: true,
	Binary:            "?",
	Length:            "CHAR_LENGTH",
	Bytes:             "LENGTH",
	Follow:            "CONCAT(?, '/', ?)",
	First:             "CAST(CONCAT(?, ?) AS CHAR(16000))",
	Prefix:            "CONVERT(LEFT(?, ?) USING utf8mb4) = CAST(CONVERT(? USING utf8mb4) AS BINARY)",
	Join:              "CONCAT(?, SUBSTRING(?, ?))",
	AssignQualifies:   true,
	AssignBelow:       "UPDATE @others STRAIGHT_JOIN @table ON @belongs @set WHERE @where",
	AsksLater:         true,
	ChildrenFirst:     true,
	ColumnTypes:       "SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ?",
	TextsNeedSize:     true,
	CommitsDDL:        true,
	LockMigration:     "SELECT GET_LOCK(" + mysqlMigration + ", 0)",
	EndMigration:      "DO RELEASE_LOCK(" + mysqlMigration + ")",
	LacksLocks:        lacksLocksMySQL,
	Classify:          classifyMySQL,
	Refuses:           refusesMySQL,
	Duplicate:         duplicateMySQL,
	Probe:             probeMySQL,
	Harmless:          harmlessMySQL,
	TooLong:           tooLongMySQL,
	Answered:          answeredByMySQL,
}

// mysqlCollation is that of utf8mb4.
func mysqlCollation(version string) string {
	if strings.Contains(version, "MariaDB") {
		return "utf8mb4_nopad_bin"
	}
	return "utf8mb4_0900_bin"
}

// mysqlMigration is the name of the lock for migrations. It holds for the whole server and has at
// most 64 characters: hence a digest of the database's name, cut to 160 bits.
const mysqlMigration = "CONCAT('pathlock-migration:', LEFT(SHA2(COALESCE(DATABASE(), ''), 256), 40))"

// lacksLocksMySQL reports whether a server of a Galera cluster refuses GET_LOCK.
func lacksLocksMySQL(err error) bool {
	switch MySQLNumber(err) {
	case 1235, // ER_NOT_SUPPORTED_YET of MariaDB
		1105: // ER_UNKNOWN_ERROR of Percona XtraDB Cluster, in its strict mode
		return true
	}
	return false
}

// MySQLNumber returns the number of an error that a MySQL or MariaDB server has answered with, 0
// for any other error.
func MySQLNumber(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

// classifyMySQL reads the error numbers of MySQL and MariaDB.
// See https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html.
func classifyMySQL(err error) Failure {
	number := MySQLNumber(err)
	if lostByProxy(number) {
		return FailureUnavailable
	}
	switch number {
	case 1213, // ER_LOCK_DEADLOCK
		1467, // ER_AUTOINC_READ_FAILED: a deadlock over the lock that INSERT … SELECT takes on the next key
		1020: // ER_CHECKREAD: MariaDB's snapshot isolation found a row changed since the last read
		return FailureEnded
	case 1205, // ER_LOCK_WAIT_TIMEOUT
		3572, // ER_LOCK_NOWAIT
		1412, // ER_TABLE_DEF_CHANGED: somebody has altered the table since the transaction began to read
		1615, // ER_NEED_REPREPARE
		1637: // ER_TOO_MANY_CONCURRENT_TRXS
		return FailureRetry
	case 1062, // ER_DUP_ENTRY
		1586: // ER_DUP_ENTRY_WITH_KEY_NAME
		return FailureDuplicate
	case 1216, 1217, 1451, 1452: // ER_NO_REFERENCED_ROW, ER_ROW_IS_REFERENCED, and both with the key
		return FailureReference
	case 1290, // ER_OPTION_PREVENTS_STATEMENT
		1792, // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
		1836: // ER_READ_ONLY_MODE
		return FailureReadOnly
	case 1021, // ER_DISK_FULL
		1040, // ER_CON_COUNT_ERROR
		1041, // ER_OUT_OF_RESOURCES
		1044, // ER_DBACCESS_DENIED_ERROR
		1045, // ER_ACCESS_DENIED_ERROR
		1049, // ER_BAD_DB_ERROR
		1053, // ER_SERVER_SHUTDOWN
		1114, // ER_RECORD_FILE_FULL
		1129, // ER_HOST_IS_BLOCKED
		1142, // ER_TABLEACCESS_DENIED_ERROR
		1146, // ER_NO_SUCH_TABLE
		1194, // ER_CRASHED_ON_USAGE
		1203, // ER_TOO_MANY_USER_CONNECTIONS
		1226, // ER_USER_LIMIT_REACHED
		1317, // ER_QUERY_INTERRUPTED
		1862, // ER_MUST_CHANGE_PASSWORD_LOGIN
		1927, // ER_CONNECTION_KILLED of MariaDB
		1969, // ER_STATEMENT_TIMEOUT of MariaDB: max_statement_time
		3024, // ER_QUERY_TIMEOUT of MySQL: max_execution_time
		3032, // ER_SERVER_OFFLINE_MODE of MySQL
		3118, // ER_ACCOUNT_HAS_BEEN_LOCKED of MySQL
		4151, // the same of MariaDB
		3169, // ER_SESSION_WAS_KILLED of MySQL
		4031: // ER_CLIENT_INTERACTION_TIMEOUT of MySQL: wait_timeout
		return FailureUnavailable
	case 1048, // ER_BAD_NULL_ERROR
		1118, // ER_TOO_BIG_ROWSIZE
		1153, // ER_NET_PACKET_TOO_LARGE
		1264, // ER_WARN_DATA_OUT_OF_RANGE
		1265, // WARN_DATA_TRUNCATED
		1267, // ER_CANT_AGGREGATE_2COLLATIONS: a text that the column's character set lacks
		1292, // ER_TRUNCATED_WRONG_VALUE
		1364, // ER_NO_DEFAULT_FOR_FIELD
		1365, // ER_DIVISION_BY_ZERO
		1366, // ER_TRUNCATED_WRONG_VALUE_FOR_FIELD: characters that its character set lacks, too
		1406, // ER_DATA_TOO_LONG
		1690, // ER_DATA_OUT_OF_RANGE
		1713, // ER_INDEX_COLUMN_TOO_LONG, of an index record
		3140, // ER_INVALID_JSON_TEXT
		3819, // ER_CHECK_CONSTRAINT_VIOLATED of MySQL
		3988, // ER_CANNOT_CONVERT_STRING
		4025: // ER_CONSTRAINT_FAILED of MariaDB, a CHECK
		return FailureUnfit
	default:
		return FailureOther
	}
}

// answeredByMySQL reports whether an error is the server's answer to a COMMIT. A session that is
// killed while it commits says so, whether or not it has committed. If a proxy has lost the server,
// the error is the proxy's.
func answeredByMySQL(err error) bool {
	switch number := MySQLNumber(err); number {
	case 0,
		1053, // ER_SERVER_SHUTDOWN
		1317, // ER_QUERY_INTERRUPTED
		1927, // ER_CONNECTION_KILLED of MariaDB
		1969, // ER_STATEMENT_TIMEOUT of MariaDB
		3169: // ER_SESSION_WAS_KILLED of MySQL
		return false
	default:
		return !lostByProxy(number)
	}
}

// lostByProxy reports whether a number is one of the client library's, such as 2013,
// CR_SERVER_LOST. No server has these: a proxy, such as ProxySQL, is the client that has failed.
func lostByProxy(number uint16) bool { return number >= 2000 && number < 3000 }

// tooLongMySQL reads the column's name from MySQL's error, where it is quoted in any language.
func tooLongMySQL(err error) (string, bool) {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	if !ok || e.Number != 1406 { // ER_DATA_TOO_LONG
		return "", false
	}
	_, column, _ := strings.Cut(e.Message, "'")
	column, _, _ = strings.Cut(column, "'")
	return column, true
}

// refusesMySQL goes by the classes of SQLSTATE: data, constraints, a trigger's own errors, and
// views WITH CHECK OPTION. Some errors are in none of them.
func refusesMySQL(err error) bool {
	e, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && (classifyMySQL(err) == FailureUnfit || slices.Contains([]string{"22", "23", "44", "45"}, string(e.SQLState[:2])))
}

// harmlessMySQL goes by the errors that only end their statement.
func harmlessMySQL(err error) bool {
	switch MySQLNumber(err) {
	case 0, // without an answer the connection is gone, and the transaction with it
		1054, 1064, 1146: // a column, a syntax, a table that is not there
		return true
	}
	kind := classifyMySQL(err)
	return kind == FailureDuplicate || kind == FailureReference || kind == FailureUnfit
}

// probeMySQL asks by a savepoint. Outside of a transaction, no savepoint is set, so there is none
// to release.
func probeMySQL(ctx context.Context, tx *sql.Tx) (open bool, err error) {
	const noSavepoint = 1305 // ER_SP_DOES_NOT_EXIST
	// Without autocommit, the server has begun another transaction in the place of the one that
	// ended.
	var commits bool
	if err := tx.QueryRowContext(ctx, "SELECT @@autocommit").Scan(&commits); err != nil || !commits {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, "SAVEPOINT pathlock_probe"); err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, "RELEASE SAVEPOINT pathlock_probe")
	if MySQLNumber(err) == noSavepoint {
		return false, nil
	}
	return err == nil, err
}

// mysqlGrammar is MariaDB's, too. There, sql_mode may allow [names], and compound statements
// contain other statements.
var mysqlGrammar = &Grammar{
	Quotes: "'\"`[", Escaped: []string{"", "'", `'"`}, Dashes: regexp.MustCompile(`^--([\x00- \x7f]|$)`), HashComments: true, LineEnds: "\n",
	Charsets: true, Executes: regexp.MustCompile(`^m?!`), StoredFunctions: true, Copies: never,
	RunsText: regexp.MustCompile(`(^| )(SCRIPT|PREPARE (\d+ )?(\S+ )?FROM|EXECUTE IMMEDIATE) `), Hides: regexp.MustCompile(`prepare|execute`),
	Ends: regexp.MustCompile(`^(SAVEPOINT|RELEASE|ROLLBACK|COMMIT|TRUNCATE|BEGIN|IF|WHILE|FOR|LOOP|REPEAT|CASE|DECLARE|\S+ :|` +
		`SET (STATEMENT|PASSWORD|DEFAULT)|LOAD INDEX|ANALYZE (TABLE|LOCAL|NO_WRITE_TO_BINLOG)|` + //nolint:misspell // as SQL spells it
		`(ALTER|BACKUP|CACHE|CHANGE|CHECK|CLONE|CREATE|DROP|EXECUTE|FLUSH|GRANT|IMPORT|INSTALL|LOCK|OPTIMIZE|RENAME|REPAIR|` + //nolint:misspell // as SQL spells it
		`RESET|RESTART|REVOKE|SHUTDOWN|START|STOP|UNINSTALL|UNLOCK|XA)( \w+)?) `),
	Stays: regexp.MustCompile(`^(CREATE (OR REPLACE )?TEMPORARY|DROP (TEMPORARY|PREPARE)|XA RECOVER) `),
}
