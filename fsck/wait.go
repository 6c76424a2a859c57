package fsck

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

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
			dialect.Discard(conn)
		}
		_ = conn.Close()
	}
	defer func() {
		if err != nil {
			giveBack()
		}
	}()
	wait := r.dialect.LockWait
	most := max(0, int64((r.opts.Wait+wait.Unit-1)/wait.Unit))
	if wait.Read != "" {
		var is int64
		if err := conn.QueryRowContext(working, wait.Read).Scan(&is); err != nil {
			return nil, nil, err
		}
		if is > most {
			bounded = true
			if _, err := conn.ExecContext(working, fmt.Sprintf(wait.Set, most)); err != nil {
				return nil, nil, err
			}
		}
	}
	// The transaction locks the rows that its decisions depend on. Where a writer is alone, it has
	// to become the writer before it reads.
	options, first := &sql.TxOptions{Isolation: sql.LevelReadCommitted}, ""
	if r.dialect.SoleWriter {
		key := r.dialect.Quote(r.table.Key)
		options, first = nil, fmt.Sprintf("UPDATE %s SET %s = %s WHERE 1 = 0", r.dialect.Quote(r.table.Table), key, key)
	} else if wait.Local != "" {
		first = fmt.Sprintf(wait.Local, max(1, most))
	}
	if tx, err = conn.BeginTx(held, options); err != nil {
		return nil, nil, err
	}
	if first != "" {
		if _, err = tx.ExecContext(working, first); err != nil {
			_ = tx.Rollback()
			return nil, nil, err
		}
	}
	return tx, giveBack, nil
}
