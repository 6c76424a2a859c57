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
	switch db.Dialect {
	case database.SQLite:
		return lockedFile(ctx, conn, do)
	case database.Postgres:
		return lockedDatabase(ctx, conn, do)
	default:
		return lockedServer(ctx, conn, do)
	}
}

// connect returns a connection to the database. The first one ever to an SQLite file switches it to
// the write-ahead log; SQLite answers those who come at that moment that the file is busy, without
// the wait that they asked for.
func connect(ctx context.Context, db *database.DB) (*sql.Conn, error) {
	return backoff.Retry(ctx, func() (*sql.Conn, error) {
		conn, err := db.Pool().Conn(ctx)
		if err != nil && !database.IsContention(err) {
			return nil, backoff.Permanent(err)
		}
		return conn, err
	}, backoff.WithBackOff(backoff.NewConstantBackOff(connectPause)), backoff.WithMaxElapsedTime(lockWait*time.Second))
}

// connectPause is the pause between two tries to connect.
const connectPause = 20 * time.Millisecond

// lockedServer uses a lock of the session, as MySQL cannot roll a CREATE TABLE back. The lock's
// name is good for the whole server and 64 characters at most: hence a digest, cut to 160 bits. Not
// every server has the shorter digests MD5() and SHA1().
func lockedServer(ctx context.Context, conn *sql.Conn, do func(*sql.Conn) error) error {
	const name = `CONCAT('pathlock-sample:', LEFT(SHA2(DATABASE(), 256), 40))`
	var got sql.NullInt64
	if err := conn.QueryRowContext(ctx, `SELECT GET_LOCK(`+name+`, ?)`, lockWait).Scan(&got); err != nil {
		return fmt.Errorf("take the migration lock: %w", err)
	}
	if got.Int64 != 1 {
		return fmt.Errorf("another instance has been migrating for %d seconds", lockWait)
	}
	err := do(conn)
	// The connection goes back to the pool, and would take the lock with it.
	if _, unlock := conn.ExecContext(context.WithoutCancel(ctx), `DO RELEASE_LOCK(`+name+`)`); unlock != nil {
		err = errors.Join(err, fmt.Errorf("release the migration lock: %w", unlock))
	}
	return err
}

// migrationLock is the number of PostgreSQL's advisory lock, which is good for one database;
// "pathlock" in ASCII.
const migrationLock = 0x706174686c6f636b

// lockedDatabase uses an advisory lock of PostgreSQL's that ends with the transaction; everything
// happens or nothing.
func lockedDatabase(ctx context.Context, conn *sql.Conn, do func(*sql.Conn) error) error {
	// At SERIALIZABLE, for example, an instance that waited would not see what was done meanwhile.
	begin := fmt.Sprintf(`BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '%ds'; SELECT pg_advisory_xact_lock(%d)`, lockWait, migrationLock)
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		return fmt.Errorf("take the migration lock: %w", err)
	}
	return ended(ctx, conn, do(conn))
}

// lockedFile uses SQLite's own write lock; everything happens or nothing.
func lockedFile(ctx context.Context, conn *sql.Conn, do func(*sql.Conn) error) error {
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return fmt.Errorf("take the write lock: %w", err)
	}
	return ended(ctx, conn, do(conn))
}

// ended ends the transaction that conn is in, as err wants it.
func ended(ctx context.Context, conn *sql.Conn, err error) error {
	end := `COMMIT`
	if err != nil {
		end = `ROLLBACK`
	}
	if _, ended := conn.ExecContext(context.WithoutCancel(ctx), end); ended != nil {
		err = errors.Join(err, fmt.Errorf("end the migration: %w", ended))
	}
	return err
}
