package database

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"
)

// readConnections is the number of connections that only read an SQLite file.
const readConnections = 4

// busyTimeout is how many milliseconds a process waits for another process's transaction on the
// same SQLite file.
const busyTimeout = 30_000

// openSQLite opens a file. One connection writes: requests of this process then wait in the pool,
// and not in SQLite, which waits by sleeping. The connection takes the write lock when a
// transaction begins, because a later upgrade may end in SQLITE_BUSY however long one waits. The
// write-ahead log lets other connections read meanwhile.
func openSQLite(path string) (*DB, error) {
	write, err := sqlitePool(path, 1, "_txlock=immediate")
	if err != nil {
		return nil, err
	}
	read, err := sqlitePool(path, readConnections, "_pragma=query_only(1)")
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	db := &DB{Dialect: SQLite, Where: "sqlite://" + path, pools: []*sql.DB{write, read}}
	return db.finish(func(pool *sql.DB) gorm.Dialector { return gormlite.OpenDB(pool) })
}

// sqlitePool opens a pool of connections with the same settings. last is one more setting.
func sqlitePool(path string, connections int, last string) (*sql.DB, error) {
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()}
	// busy_timeout comes first: the other pragmas may already have to wait.
	name.RawQuery = fmt.Sprintf("_pragma=busy_timeout(%d)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)&%s", busyTimeout, last)
	pool, err := driver.Open(name.String())
	if err != nil {
		return nil, fmt.Errorf("database: open sqlite://%s: %w", path, err)
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, nil
}
