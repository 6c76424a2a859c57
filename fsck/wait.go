package fsck

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// begin begins a transaction that waits at most [RepairOptions.Wait] for locked rows. end restores
// the connection's settings, and returns it to the pool. The end of working ends the statements of
// begin, the end of held ends the transaction.
func (r *repair) begin(working, held context.Context) (tx *sql.Tx, end func(), err error) {
	conn, done, err := r.connect(working)
	if err != nil {
		return nil, nil, err
	}
	restore := func() error { return nil }
	giveBack := func() {
		if restore() != nil {
			discard(conn)
		}
		done()
	}
	defer func() {
		if err != nil {
			giveBack()
		}
	}()
	if restore, err = r.bound(working, held, conn); err != nil {
		return nil, nil, err
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

// bound lowers the time that the connection waits for locks, if it is longer than
// [RepairOptions.Wait]. restore undoes that.
func (r *repair) bound(working, held context.Context, conn *sql.Conn) (restore func() error, err error) {
	restore = func() error { return nil }
	var rows, tables int64
	switch r.dialect {
	case MySQL:
		most := int64(max(time.Second, r.opts.Wait+time.Second-1) / time.Second)
		err = conn.QueryRowContext(working, "SELECT @@SESSION.innodb_lock_wait_timeout, @@SESSION.lock_wait_timeout").Scan(&rows, &tables)
		if err != nil || rows <= most && tables <= most {
			return restore, err
		}
		set := func(ctx context.Context, rows, tables int64) error {
			_, err := conn.ExecContext(ctx, fmt.Sprintf("SET SESSION innodb_lock_wait_timeout = %d, lock_wait_timeout = %d", rows, tables))
			return err
		}
		return func() error { return set(held, rows, tables) }, set(working, min(rows, most), min(tables, most))
	case SQLite:
		most := max(0, r.opts.Wait.Milliseconds())
		if err = conn.QueryRowContext(working, "PRAGMA busy_timeout").Scan(&rows); err != nil || rows <= most {
			return restore, err
		}
		set := func(ctx context.Context, n int64) error {
			_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", n))
			return err
		}
		return func() error { return set(held, rows) }, set(working, most)
	default:
		return restore, nil
	}
}
