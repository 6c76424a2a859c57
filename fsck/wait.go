package fsck

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"time"
)

// waits say how long a session waits for locks, where a transaction has no setting of its own.
var waits = map[Dialect]struct {
	read, set string
	unit      time.Duration
}{
	MySQL: {
		"SELECT GREATEST(@@SESSION.innodb_lock_wait_timeout, @@SESSION.lock_wait_timeout)",
		"SET SESSION innodb_lock_wait_timeout = %[1]d, lock_wait_timeout = %[1]d", time.Second,
	},
	SQLite: {"PRAGMA busy_timeout", "PRAGMA busy_timeout = %d", time.Millisecond},
}

// begin begins a transaction that waits at most [RepairOptions.Wait] for locked rows. end gives the
// connection back. The end of working ends the statements of begin, the end of held ends the
// transaction.
func (r *repair) begin(working, held context.Context) (tx *sql.Tx, end func(), err error) {
	conn, err := r.db.Conn(working)
	if err != nil {
		return nil, nil, err
	}
	bounded := false
	giveBack := func() {
		if bounded { // nobody else gets it with this setting
			_ = conn.Raw(func(any) error { return driver.ErrBadConn })
		}
		_ = conn.Close()
	}
	defer func() {
		if err != nil {
			giveBack()
		}
	}()
	if wait, ok := waits[r.dialect]; ok {
		var is int64
		if err := conn.QueryRowContext(working, wait.read).Scan(&is); err != nil {
			return nil, nil, err
		}
		if most := max(0, int64((r.opts.Wait+wait.unit-1)/wait.unit)); is > most {
			bounded = true
			if _, err := conn.ExecContext(working, fmt.Sprintf(wait.set, most)); err != nil {
				return nil, nil, err
			}
		}
	}
	if tx, err = conn.BeginTx(held, r.dialect.writing()); err != nil {
		return nil, nil, err
	}
	switch r.dialect {
	case PostgreSQL:
		_, err = tx.ExecContext(working, fmt.Sprintf("SET LOCAL lock_timeout = %d", max(1, r.opts.Wait.Milliseconds())))
	case SQLite:
		// SQLite has no row locks: the transaction has to become the writer before it reads.
		key := r.dialect.quote(r.table.Key)
		_, err = tx.ExecContext(working, fmt.Sprintf("UPDATE %s SET %s = %s WHERE 1 = 0", r.dialect.quote(r.table.Table), key, key))
	}
	if err != nil {
		_ = tx.Rollback()
		return nil, nil, err
	}
	return tx, giveBack, nil
}
