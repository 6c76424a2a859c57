package cli

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/store/anystore"
	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// openDB opens the database that --db names, without connecting to it. A file has to exist.
func openDB(name string) (*sql.DB, fsck.Dialect, error) {
	d, err := sqlopen.Parse(name)
	if err != nil {
		return nil, "", fmt.Errorf("%w: --db: %w", errUsage, err)
	}
	if d.Dialect == sqlstore.SQLite {
		d.SQLite.RawQuery = "mode=rw&_pragma=busy_timeout(30000)" // a writing transaction waits for others
	}
	db, err := d.Open()
	if err != nil {
		return nil, "", fmt.Errorf("%w: --db: %w", errUsage, err)
	}
	return db, fsck.Dialect(d.Dialect), nil
}

// connecting is how long a database may take to connect: what is behind a wrong port never answers.
const connecting = 10 * time.Second

// reach returns an error if the database does not answer in time.
func reach(ctx context.Context, db *sql.DB, patience time.Duration) error {
	limited, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %v", patience))
	defer cancel()
	err := db.PingContext(limited)
	if err != nil && limited.Err() != nil {
		err = context.Cause(limited)
	}
	if err != nil {
		return fmt.Errorf("connect to the database, which %s: %w", anystore.Trouble(err), err)
	}
	return nil
}
