package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/pathlock-go/pathlock/sample-app/internal/database"
)

// lockWait is how many seconds an instance waits for another one's migration.
const lockWait = 60

// locked runs do while no other instance can migrate the same database.
func locked(ctx context.Context, db *database.DB, do func(*sql.Conn) error) (err error) {
	conn, err := connect(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if db.Dialect == database.MySQL {
		return underSessionLock(ctx, conn, do)
	}
	return inTransaction(ctx, conn, lockingBegin[db.Dialect], do)
}

// connect returns a connection to the database. The first connection to a new SQLite file switches
// it to the write-ahead log. Others that connect at that moment get SQLITE_BUSY at once, without
// the wait that they asked for.
func connect(ctx context.Context, db *database.DB) (*sql.Conn, error) {
	return backoff.Retry(ctx, func() (*sql.Conn, error) {
		conn, err := db.Pool().Conn(ctx)
		if err != nil && !database.IsBusy(err) {
			return nil, backoff.Permanent(err)
		}
		return conn, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(connectPause)), backoff.WithMaxElapsedTime(lockWait*time.Second))
}

// connectPause is the pause between two attempts to connect.
const connectPause = 20 * time.Millisecond

// underSessionLock runs do under a lock of MySQL's session, because MySQL cannot roll back a CREATE
// TABLE. The lock's name holds for the whole server and has at most 64 characters: hence a digest,
// cut to 160 bits. Not every server has MD5() and SHA1(), which are shorter.
func underSessionLock(ctx context.Context, conn *sql.Conn, do func(*sql.Conn) error) error {
	const name = `CONCAT('pathlock-sample:', LEFT(SHA2(DATABASE(), 256), 40))`
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, `SELECT GET_LOCK(`+name+`, ?)`, lockWait).Scan(&got); err != nil {
		return fmt.Errorf("take the migration lock: %w", err)
	}
	if got.Int64 != 1 {
		return fmt.Errorf("another instance has been migrating for %d seconds", lockWait)
	}
	err := do(conn)
	// Otherwise the connection would take the lock back into the pool.
	if _, unlock := conn.ExecContext(context.WithoutCancel(ctx), `DO RELEASE_LOCK(`+name+`)`); unlock != nil {
		err = errors.Join(err, fmt.Errorf("release the migration lock: %w", unlock))
	}
	return err
}

// migrationLock is the number of PostgreSQL's advisory lock: "pathlock" in ASCII. It holds for one
// database.
const migrationLock = 0x706174686c6f636b

// lockingBegin starts a transaction that locks out other migrations, by SQLite's write lock or by
// an advisory lock of PostgreSQL. That one waits, and must then see what was committed meanwhile,
// which it would not at SERIALIZABLE, for example.
var lockingBegin = map[database.Dialect]string{
	database.SQLite: `BEGIN IMMEDIATE`,
	database.Postgres: fmt.Sprintf(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '%ds'; SELECT pg_advisory_xact_lock(%d)`,
		lockWait, migrationLock),
}

// inTransaction runs do in a transaction, which ends the lock that begin has taken: all of do
// happens or nothing.
func inTransaction(ctx context.Context, conn *sql.Conn, begin string, do func(*sql.Conn) error) error {
	_, err := conn.ExecContext(ctx, begin)
	if err != nil {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		return fmt.Errorf("take the migration lock: %w", err)
	}
	end := `COMMIT`
	if err = do(conn); err != nil {
		end = `ROLLBACK`
	}
	if _, ended := conn.ExecContext(context.WithoutCancel(ctx), end); ended != nil {
		err = errors.Join(err, fmt.Errorf("end the migration: %w", ended))
	}
	return err
}
