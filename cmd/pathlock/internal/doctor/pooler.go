package doctor

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// pooler looks whether a pooler gives each transaction another session of PostgreSQL, which means
// what is given. A program whose statements have names needs one that keeps them.
func (e *exam) pooler(ctx context.Context, db *sql.DB, about string, d *dialect.Dialect, means string, named bool) {
	if d != dialect.PostgreSQL {
		return
	}
	var pooled, forgets bool
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		pooled, forgets, err = sessions(ctx, db)
		return err
	})
	switch {
	case err != nil:
		e.unknown(about, "pooler", err, "")
	case forgets && named:
		e.found(Problem, about, "pooler", "a pooler gives each transaction another session, and keeps no prepared statements", "requests of programs with pgx's default mode fail at random",
			"add default_query_exec_mode=cache_describe to the programs' URL, or set pool_mode = session, or max_prepared_statements of pgbouncer 1.21")
	case pooled:
		e.found(Advice, about, "pooler", "a pooler gives each transaction another session", means, "connect to the server itself, or accept it")
	}
}

// rounds is how often two clients look for their sessions. A pooler mostly gives the session that
// was used last, at the first try.
const rounds = 10

// sessions reports whether two clients meet in one session, and whether they lose their prepared
// statements by that.
func sessions(ctx context.Context, db *sql.DB) (pooled, forgets bool, err error) {
	var statements [2]*sql.Stmt
	seen := make(map[int]int)
	for try := range rounds * len(statements) {
		client := try % len(statements)
		if statements[client] == nil {
			conn, err := db.Conn(ctx)
			if err != nil {
				return false, false, err
			}
			defer func() { _ = conn.Close() }()
			statement, err := conn.PrepareContext(ctx, "SELECT pg_backend_pid() /* pathlock doctor */")
			if err != nil {
				return lost(err)
			}
			defer func() { _ = statement.Close() }()
			statements[client] = statement
		}
		var session int
		if err := statements[client].QueryRowContext(ctx).Scan(&session); err != nil {
			return lost(err)
		}
		if other, ok := seen[session]; ok && other != client {
			pooled = true
		}
		seen[session] = client
	}
	return pooled, false, nil
}

// lost tells the error for a prepared statement that another client has, or that is in another
// session, from others.
func lost(err error) (pooled, forgets bool, _ error) {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	if ok && (refused.Code == "42P05" || refused.Code == "26000") {
		return true, true, nil
	}
	return false, false, err
}
