package doctor

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// databaseRules judge the settings of a session that package treeschema does not judge.
var databaseRules = map[*dialect.Dialect][]rule{
	dialect.PostgreSQL: {
		{"durability", Warning, "synchronous_commit=off", "synchronous_commit is off", "a crash of the server loses the last commits, both locks and changes of trees", "set synchronous_commit = on"},
		{"durability", Fine, "", "synchronous_commit is {synchronous_commit}", "", ""},
		{"time-outs", Advice, "idle_in_transaction_session_timeout=0", "idle_in_transaction_session_timeout is 0", "a transaction whose program hangs keeps its row locks for ever", "ALTER SYSTEM SET idle_in_transaction_session_timeout = '1min', or SET it for the role, and reload"},
	},
	dialect.MySQL: {
		{"durability", Fine, "innodb_flush_log_at_trx_commit=1", "innodb_flush_log_at_trx_commit is 1, sync_binlog {sync_binlog}", "", ""},
		{"durability", Warning, "", "innodb_flush_log_at_trx_commit is {innodb_flush_log_at_trx_commit}", "a crash of the host loses the commits of the last second, both locks and changes of trees", "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and the same in my.cnf"},
		// MariaDB has a time-out for idle transactions, and MySQL only the one for all idle
		// connections.
		{"time-outs", Advice, "long=yes idle_transaction_timeout=0", "idle_transaction_timeout is 0", keepsLocks, "SET GLOBAL idle_transaction_timeout = 60, and the same in my.cnf, or idle_transaction_timeout=60 in the programs' URL"},
		{"time-outs", Advice, "long=yes idle_transaction_timeout=", "wait_timeout is {lasts}", keepsLocks, "SET GLOBAL wait_timeout = 300, and the same in my.cnf, or wait_timeout=300 in the programs' URL; have their pools close idle connections sooner"},
	},
}

// fsyncRules are more rules on PostgreSQL's durability.
var fsyncRules = []rule{
	{"durability", Problem, "fsync=off", "fsync is off", "a crash of the host destroys the database", "set fsync = on in postgresql.conf, and reload"},
	{"durability", Fine, "fsync=on", "fsync is on", "", ""},
}

const keepsLocks = "a transaction whose program hangs keeps its row locks for {lasts}, or until its connection breaks"

// mostIdle is how long the transaction of a program that hangs may keep its row locks before that
// is worth a word.
const mostIdle = 10 * time.Minute

// settings looks at the settings of a session.
func (e *exam) settings(ctx context.Context, db *sql.DB, about string, d *dialect.Dialect) {
	f, err := answer(ctx, e, func(ctx context.Context) (map[string]string, error) { return treeschema.Settings(ctx, db, d) })
	if err != nil {
		e.unknown(about, "settings", err, "")
		return
	}
	lasts, _ := time.ParseDuration(f["wait_timeout"] + "s")
	f["lasts"], f["long"] = lasts.String(), flag(lasts > mostIdle)
	e.judge(about, f, fsyncRules)
	e.judge(about, f, databaseRules[d])
}

// serverChecks are the checks of package treeschema that matter even if the database has only
// locks: the statements of a lock store are right at any isolation level, SQL mode and encoding.
var serverChecks = []struct {
	check treeschema.Check
	fine  string
}{
	{treeschema.Version, "the server's version is supported"},
	{treeschema.ReadOnly, "the server takes writes"},
	{treeschema.Writers, "no other server seems to take writes"},
}

// server adds what package treeschema finds wrong with the server and the session. It reports
// whether the server takes writes.
func (e *exam) server(ctx context.Context, db *sql.DB, about string, d *dialect.Dialect, locksAlone bool) (writable bool) {
	all, err := answer(ctx, e, func(ctx context.Context) ([]treeschema.Finding, error) { return treeschema.Run(ctx, db, d, nil) })
	if err != nil {
		e.unknown(about, "server", err, "")
		return true
	}
	wrong := map[treeschema.Check]bool{}
	for _, c := range serverChecks {
		if wrong[c.check] = slices.ContainsFunc(all, func(f treeschema.Finding) bool { return f.Check == c.check }); !wrong[c.check] {
			e.fine(about, string(c.check), c.fine)
		}
	}
	for _, f := range all {
		if wrong[f.Check] || !locksAlone {
			e.schema(about, f)
		}
	}
	return !wrong[treeschema.ReadOnly]
}

// schema adds a finding of package treeschema.
func (e *exam) schema(about string, f treeschema.Finding) {
	level := Warning
	if f.Severity == treeschema.Unsafe {
		level = Problem
	}
	if f.Table != "" {
		about = f.Table
	}
	e.Findings = append(e.Findings, Finding{
		Level: level, About: about, Check: string(f.Check), Is: f.Missing, Means: f.Why, Change: f.Advice, Statements: f.Statements,
	})
}

// sqlLocks examines the database behind a lock store, and its tables. It reports whether locks can
// be tried out.
func (e *exam) sqlLocks(ctx context.Context, about string, d *dialect.Dialect, store *sqlstore.Store) bool {
	if !e.server(ctx, store.DB(), about, d, true) {
		return false
	}
	e.settings(ctx, store.DB(), about, d)
	e.pooler(ctx, store.DB(), about, d, "no notification gets through: waiters look once a second", false)
	err := Within(ctx, e.Patience, store.Check)
	switch {
	case err == nil:
		e.fine(about, "tables", "the tables of the locks are right, and the user may write them")
		return true
	case !errors.Is(err, sqlstore.ErrTables):
		e.unanswered(about, err)
	case errors.Is(err, sqlstore.ErrNoTable):
		e.found(Warning, about, "tables", "there is no table of locks yet", "the first program that opens the store creates it; its user needs the right to do that", "start a program as a user who may create tables; after that, the right to read and write them is enough")
	default:
		e.found(Problem, about, "tables", err.Error(), "nothing is granted", "drop the table while no program runs, and let a program create it again")
	}
	return false
}

// pooler looks for a pooler that gives each transaction another session of PostgreSQL. means says
// what follows from that. Programs whose statements have names need a pooler that keeps these.
func (e *exam) pooler(ctx context.Context, db *sql.DB, about string, d *dialect.Dialect, means string, named bool) {
	if d != dialect.PostgreSQL {
		return
	}
	pooled, err := answer(ctx, e, func(ctx context.Context) (bool, error) { return sessionsMeet(ctx, db) })
	// The server does not know a statement that is in another session, or knows it already.
	refused, _ := errors.AsType[*pgconn.PgError](err)
	forgets := refused != nil && (refused.Code == "42P05" || refused.Code == "26000")
	switch {
	case err != nil && !forgets:
		e.unknown(about, "pooler", err, "")
	case forgets && named:
		e.found(Problem, about, "pooler", "a pooler gives each transaction another session, and keeps no prepared statements", "requests of programs with pgx's default mode fail at random",
			"add default_query_exec_mode=cache_describe to the programs' URL, or set pool_mode = session, or max_prepared_statements of pgbouncer 1.21")
	case forgets, pooled:
		e.found(Advice, about, "pooler", "a pooler gives each transaction another session", means, "connect to the server itself, or accept it")
	}
}

// rounds is how often two clients look for their sessions. Most poolers hand out the session that
// was used last, so that the first round shows it.
const rounds = 10

// sessionsMeet reports whether two clients with prepared statements meet in one session.
func sessionsMeet(ctx context.Context, db *sql.DB) (met bool, err error) {
	var statements [2]*sql.Stmt
	seen := make(map[int]int)
	for try := range rounds * len(statements) {
		client := try % len(statements)
		if statements[client] == nil {
			conn, err := db.Conn(ctx)
			if err != nil {
				return false, err
			}
			defer func() { _ = conn.Close() }()
			statement, err := conn.PrepareContext(ctx, "SELECT pg_backend_pid() /* pathlock doctor */")
			if err != nil {
				return false, err
			}
			defer func() { _ = statement.Close() }()
			statements[client] = statement
		}
		var session int
		if err := statements[client].QueryRowContext(ctx).Scan(&session); err != nil {
			return false, err
		}
		if other, ok := seen[session]; ok && other != client {
			met = true
		}
		seen[session] = client
	}
	return met, nil
}
