package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// databaseRules say what the settings of a session mean, on which package treeschema has no
// opinion.
var databaseRules = map[dialect.Name][]rule{
	dialect.PostgreSQL.Name: {
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
	},
	dialect.MySQL.Name: {
		{"durability", func(f facts) Finding {
			if flush := f["innodb_flush_log_at_trx_commit"]; flush != "1" {
				return bad(Warning, "innodb_flush_log_at_trx_commit is "+flush, "a crash of the host forgets the commits of the last second, locks and changes of trees alike", "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and the same in my.cnf")
			}
			return fine("innodb_flush_log_at_trx_commit is 1, sync_binlog %s", f["sync_binlog"])
		}},
		{"time-outs", judgeIdleMySQL},
	},
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
func (e *exam) settings(ctx context.Context, db *sql.DB, about string, d *dialect.Dialect) {
	if d == dialect.SQLite {
		return
	}
	f := make(facts)
	if err := e.ask(ctx, func(ctx context.Context) error { return readSettings(ctx, db, string(d.Name)+"_settings.sql", f) }); err != nil {
		e.unknown(about, "settings", err, "")
		return
	}
	e.judge(about, f, databaseRules[d.Name])
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
