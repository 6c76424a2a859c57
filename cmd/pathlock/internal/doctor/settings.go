package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pathlock-go/pathlock"
)

// databaseRules say what the settings of a session mean, on which package treeschema has no
// opinion.
var databaseRules = map[string][]rule{
	"postgres": slices.Concat([]rule{
		{"durability", func(f facts) Finding {
			if f["fsync"] == "off" {
				return bad(Problem, "fsync is off", "a crash of the host destroys the database", "set fsync = on in postgresql.conf, and reload")
			}
			return fine("fsync is on")
		}},
		{"durability", func(f facts) Finding {
			if f["synchronous_commit"] == "off" {
				return bad(Warning, "synchronous_commit is off", "a crash of the server forgets the last commits, locks and changes of trees alike", "set synchronous_commit = on")
			}
			return fine("synchronous_commit is %s", f["synchronous_commit"])
		}},
		{"time-outs", func(f facts) Finding {
			if f["idle_in_transaction_session_timeout"] != "0" {
				return Finding{}
			}
			return bad(Advice, "idle_in_transaction_session_timeout is 0", "a transaction whose program hangs keeps its row locks for ever",
				"ALTER SYSTEM SET idle_in_transaction_session_timeout = '1min', or SET it for the role, and reload")
		}},
		connections("connections", "max_connections", "raise max_connections, or lower the sizes of the programs' pools"),
	}, timeouts(time.Millisecond, idle, "idle_in_transaction_session_timeout", "transaction_timeout"),
		timeouts(time.Millisecond, statements, "statement_timeout"), timeouts(time.Millisecond, rowWait, "lock_timeout")),
	"mysql": slices.Concat([]rule{
		{"durability", func(f facts) Finding {
			if flush := f["innodb_flush_log_at_trx_commit"]; flush != "1" {
				return bad(Warning, "innodb_flush_log_at_trx_commit is "+flush, "a crash of the host forgets the commits of the last second, locks and changes of trees alike", "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and the same in my.cnf")
			}
			return fine("innodb_flush_log_at_trx_commit is 1, sync_binlog %s", f["sync_binlog"])
		}},
		{"time-outs", judgeIdleMySQL},
		connections("threads_connected", "max_connections", "raise max_connections, or lower the sizes of the programs' pools"),
	}, timeouts(time.Second, idle, "wait_timeout", "idle_transaction_timeout", "idle_write_transaction_timeout"),
		timeouts(time.Second, statements, "max_statement_time"), timeouts(time.Second, rowWait, "innodb_lock_wait_timeout")),
}

// timeout is a setting of a database that ends what takes longer. Zero is without end.
type timeout struct {
	least time.Duration
	ends  string
}

var (
	idle       = timeout{pathlock.DefaultWait, "a transaction that waits for a path lock is idle for the database, which ends it: programs fail that would have got the lock"}
	statements = timeout{time.Second, "a move or a rename of a large subtree is ended, and so is each later attempt"}
	rowWait    = timeout{100 * time.Millisecond, "who waits for the row locks of a usual transaction gives up: needless errors and retries"}
)

// timeouts are the rules about time-outs that are too short.
func timeouts(unit time.Duration, t timeout, names ...string) (rules []rule) {
	for _, name := range names {
		rules = append(rules, rule{"time-outs", func(f facts) Finding {
			lasts := time.Duration(f.number(name) * float64(unit))
			switch is := fmt.Sprintf("%s is %v", name, lasts); {
			case lasts <= 0:
				return Finding{} // the server has no such setting, or it ends nothing
			case lasts < t.least:
				return bad(Warning, is, t.ends, fmt.Sprintf("set %s to %v or more for the user of the programs", name, t.least))
			default:
				return fine("%s", is)
			}
		}})
	}
	return rules
}

// mostIdle is how long a transaction may keep its row locks whose program hangs, before that is
// worth a word.
const mostIdle = 10 * time.Minute

// judgeIdleMySQL looks whether the server ends transactions that are idle. MariaDB has a time-out
// for them, and MySQL only the one for all idle connections.
func judgeIdleMySQL(f facts) Finding {
	lasts := time.Duration(f.number("wait_timeout")) * time.Second
	means := fmt.Sprintf("a transaction whose program hangs keeps its row locks for %v, or until its connection breaks", lasts)
	switch ends, isMariaDB := f["idle_transaction_timeout"]; {
	case lasts <= mostIdle:
	case isMariaDB && ends == "0":
		return bad(Advice, "idle_transaction_timeout is 0", means, "SET GLOBAL idle_transaction_timeout = 60, and the same in my.cnf, or idle_transaction_timeout=60 in the programs' URL")
	case !isMariaDB:
		return bad(Advice, fmt.Sprintf("wait_timeout is %v", lasts), means, "SET GLOBAL wait_timeout = 300, and the same in my.cnf, or wait_timeout=300 in the programs' URL; have their pools close idle connections sooner")
	}
	return Finding{}
}

// settings looks at the settings of a session.
func (e *exam) settings(ctx context.Context, db *sql.DB, about, dialect string) {
	if dialect == "sqlite" {
		return
	}
	f := make(facts)
	files := map[string][]string{"postgres": {"postgres_settings.sql"}, "mysql": {"mysql_settings.sql", "mysql_status.sql"}}[dialect]
	for _, file := range files {
		if err := e.ask(ctx, func(ctx context.Context) error { return readSettings(ctx, db, file, f) }); err != nil {
			e.unknown(about, "settings", err, "")
			return
		}
	}
	e.judge(about, f, databaseRules[dialect])
	if dialect == "postgres" {
		e.pooler(ctx, db, about)
	}
}

// readSettings adds the names and values that a question answers.
func readSettings(ctx context.Context, db *sql.DB, file string, f facts) (err error) {
	question, err := sqlFiles.ReadFile("sql/" + file)
	if err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, string(question))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		f[strings.ToLower(name)] = value.String
	}
	return rows.Err()
}

// pooler looks for a pgbouncer, or something like it, between this program and PostgreSQL: it gives
// its clients process ids that are none of the server's.
func (e *exam) pooler(ctx context.Context, db *sql.DB, about string) {
	var told, is uint32
	err := e.ask(ctx, func(ctx context.Context) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		if err := conn.Raw(func(driver any) error {
			c, ok := driver.(*stdlib.Conn)
			if !ok {
				return errors.New("the driver is not pgx")
			}
			told = c.Conn().PgConn().PID()
			return nil
		}); err != nil {
			return err
		}
		return conn.QueryRowContext(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&is)
	})
	switch {
	case err != nil:
		e.unknown(about, "pooler", err, "")
	case told == is:
		e.fine(about, "pooler", "the connection leads to the server itself")
	default:
		e.found(Advice, about, "pooler", "a pooler is between", "one in transaction mode loses what a session is told, such as by SET, LISTEN or PREPARE: waiters are not notified, and ask every 50 ms; transactions are right",
			"set pool_mode = session for this database, or connect to the server itself")
	}
}
