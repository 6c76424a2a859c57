package doctor

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// pooler looks for a pgbouncer, or something like it, between this program and PostgreSQL. means
// says what follows from one that keeps no sessions.
//
// A pooler gives its clients process ids that are none of the server's. One in transaction mode
// gives a client another server connection when others hold the last one.
func (e *exam) pooler(ctx context.Context, db *sql.DB, about, means string) {
	var between, sessions bool
	var refused error
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		between, err = isPooled(ctx, db)
		if between {
			refused = refusesSetting(ctx, db)
		}
		sessions = between
		for i := 0; err == nil && sessions && i < turns; i++ {
			sessions, err = keepsSessions(ctx, db)
		}
		return err
	})
	switch {
	case err != nil:
		e.unknown(about, "pooler", err, "")
	case !between:
		e.fine(about, "pooler", "the connection leads to the server itself")
	case sessions:
		e.fine(about, "pooler", "a pooler is between, and keeps sessions")
	default:
		e.found(Warning, about, "pooler", "a pooler in transaction mode is between", means,
			"set pool_mode = session for this database, or connect to the server itself; pools of programs that stay behind it need default_query_exec_mode=cache_describe in their URL, unless it keeps prepared statements")
	}
	if refused != nil {
		e.found(Advice, about, "pooler", fmt.Sprintf("it refuses clients that set %s when they connect: %v", startSetting, refused), "the sample app, for one, cannot connect",
			"ignore_startup_parameters = "+startSetting+" in pgbouncer.ini, and ALTER ROLE ... SET "+startSetting+" on the server")
	}
}

// startSetting is what programs such as the sample app set when they connect.
const startSetting = "lock_timeout"

// refusesSetting returns why a client cannot connect that sets [startSetting], nil if it can.
func refusesSetting(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil //nolint:nilerr // it is not the setting
	}
	defer func() { _ = conn.Close() }()
	var refused *pgconn.PgError
	_ = conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return nil
		}
		config := c.Conn().Config()
		config.RuntimeParams[startSetting] = "10s"
		with, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			errors.As(err, &refused)
			return nil
		}
		return with.Close(ctx)
	})
	if refused == nil || refused.Code != protocolViolation {
		return nil
	}
	return refused
}

// protocolViolation is the code with which pgbouncer refuses a setting.
const protocolViolation = "08P01"

// turns is how often it is tried whether sessions are kept: other programs may take the server
// connection in between, so that a single try proves only that they are not.
const turns = 5

// isPooled reports whether a connection has another process id than its server process.
func isPooled(ctx context.Context, db *sql.DB) (bool, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.Close() }()
	var told uint32
	err = conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return errors.New("the driver is not pgx")
		}
		told = c.Conn().PgConn().PID()
		return nil
	})
	if err != nil {
		return false, err
	}
	var is uint32
	if err := conn.QueryRowContext(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&is); err != nil {
		return false, fmt.Errorf("asking for the server process: %w", err)
	}
	return told != is, nil
}

// keepsSessions reports whether a setting of a connection outlives a transaction of another
// connection: of two that share a server connection, the second takes it from the first.
func keepsSessions(ctx context.Context, db *sql.DB) (bool, error) {
	first, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = first.Close() }()
	second, err := db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = second.Close() }()
	mark, found := rand.Text(), ""
	// Without prepared statements, which a pooler may lose, too.
	simple := pgx.QueryExecModeSimpleProtocol
	if _, err := first.ExecContext(ctx, "SELECT set_config('pathlock.doctor', $1, FALSE)", simple, mark); err != nil {
		return false, err
	}
	tx, err := second.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer func() { _ = tx.Rollback() }()
	var taken sql.NullString
	if err := tx.QueryRowContext(ctx, "SELECT current_setting('pathlock.doctor', TRUE)", simple).Scan(&taken); err != nil {
		return false, err
	}
	if taken.String == mark {
		return false, nil
	}
	if err := first.QueryRowContext(ctx, "SELECT COALESCE(current_setting('pathlock.doctor', TRUE), '')", simple).Scan(&found); err != nil {
		return false, err
	}
	return found == mark, nil
}
