package fsck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// attempts bounds how often a transaction is tried.
const attempts = 10

// batch makes edits of one tree in a transaction, under the tree's gate. It skips a tree that
// other sessions keep busy.
func (r *repair) batch(ctx context.Context, p *plan, tree Key, edits []*edit) (outdated bool, err error) {
	if ctx.Err() != nil {
		return false, fmt.Errorf("fsck: repair %s: %w", r.table.Table, context.Cause(ctx))
	}
	if r.skippedTrees[tree] {
		return false, nil
	}
	if !r.opts.Apply {
		w := &writer{plan: p, tree: tree}
		if err := w.write(ctx, edits); err != nil {
			return false, err
		}
		return false, r.changed(w.changes)
	}
	name, err := pathlock.NewTree(r.table.Namespace, tree.String())
	if err != nil {
		return false, err
	}
	held, release, err := r.gate(ctx, name)
	switch {
	case errors.Is(err, pathlock.ErrConflict) || errors.Is(err, pathlock.ErrDeadlock):
		r.skipTree(tree, err)
		return false, nil
	case err != nil:
		return false, err
	}
	outdated, err = r.retry(ctx, held, p, tree, edits)
	switch released := release(); {
	case released != nil || err == nil || ctx.Err() != nil:
		return outdated, errors.Join(err, released)
	case r.dialect.Classify(err).IsRetryable():
		r.skipTree(tree, err)
		return false, nil
	default:
		return false, err
	}
}

// retry tries a transaction until it commits, or until another try is pointless. While other
// sessions hold a lock, it tries again until [RepairOptions.Wait] is over.
func (r *repair) retry(ctx, held context.Context, p *plan, tree Key, edits []*edit) (outdated bool, err error) {
	begun := time.Now()
	for try := 1; ; try++ {
		outdated, err = r.transact(ctx, held, p, tree, edits)
		failure := r.dialect.Classify(err)
		again := failure == dialect.FailureEnded || failure == dialect.FailureRetry && time.Since(begun) < r.opts.Wait
		if !again || try == attempts || ctx.Err() != nil {
			return outdated, err
		}
	}
}

// gate takes the gate of a tree. It returns the context of the work under the gate, which ends if
// the gate is lost, but not with ctx, and a function that releases the gate.
func (r *repair) gate(ctx context.Context, tree pathlock.Tree) (context.Context, func() error, error) {
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if r.opts.Locker == nil {
		return detached, func() error { cancel(); return nil }, nil
	}
	stop := context.AfterFunc(ctx, cancel) // while it waits
	lock, err := r.opts.Locker.Acquire(detached, pathlock.Request{Tree: tree, Gate: true, Wait: r.opts.Wait, Note: "pathlock fsck"})
	if err != nil {
		stop()
		cancel()
		return nil, nil, fmt.Errorf("fsck: lock tree %q: %w", tree.ID(), err)
	}
	stop()
	return lock.Context(), func() error {
		defer cancel()
		if err := lock.Release(ctx); err != nil {
			return fmt.Errorf("fsck: unlock tree %q: %w", tree.ID(), err)
		}
		return nil
	}, nil
}

// transact makes edits in a transaction, writes the changes to the log, and commits. The end of ctx
// ends the work and its waits for row locks. If the work is already done, the transaction still
// commits.
func (r *repair) transact(ctx, held context.Context, p *plan, tree Key, edits []*edit) (outdated bool, err error) {
	working, stop := context.WithCancelCause(held)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })()
	tx, end, err := r.begin(working, held)
	if err != nil {
		return false, fmt.Errorf("fsck: repair %s: %w", r.table.Table, err)
	}
	defer end()
	r.transaction++
	w := &writer{plan: p, tree: tree, tx: tx, number: r.transaction, now: make(map[rowID]*row)}
	committed := false
	defer func() {
		if committed {
			return
		}
		w.forget()
		if ended := tx.Rollback(); ended != nil && !errors.Is(ended, sql.ErrTxDone) && working.Err() == nil {
			err = errors.Join(err, fmt.Errorf("fsck: repair %s: %w", r.table.Table, ended))
		}
	}()
	if err := w.write(working, edits); err != nil {
		return false, err
	}
	if len(w.changes) > 0 {
		if err := record(r.opts.Log, w.changes...); err != nil {
			return false, err
		}
		if err := tx.Commit(); err != nil {
			return false, fmt.Errorf("fsck: repair %s: commit: %w", r.table.Table, err)
		}
		committed = true
		r.summary.Transactions++
		if err := record(r.opts.Log, logLine{Transaction: w.number, Commit: true}); err != nil {
			return false, err
		}
	}
	for _, s := range w.skips {
		r.skipRow(s)
	}
	return w.outdated, r.changed(w.changes)
}

// begin begins a transaction that waits at most [RepairOptions.Wait] for locked rows. end gives the
// connection back. The end of working ends the statements of begin, the end of held ends the
// transaction.
func (r *repair) begin(working, held context.Context) (tx *sql.Tx, end func(), err error) {
	conn, err := r.db.Conn(working)
	if err != nil {
		return nil, nil, err
	}
	wait := r.dialect.LockWait
	giveBack := func() {
		if wait.Session != "" { // nobody else gets it with this setting
			dialect.Discard(conn)
		}
		_ = conn.Close()
	}
	defer func() {
		if err != nil {
			giveBack()
		}
	}()
	most := max(1, int64((r.opts.Wait+wait.Unit-1)/wait.Unit))
	if wait.Session != "" {
		if _, err := conn.ExecContext(working, fmt.Sprintf(wait.Session, most)); err != nil {
			return nil, nil, err
		}
	}
	// The transaction locks the rows that its decisions depend on. If a writer is alone, it has
	// to become the writer before it reads.
	options, first := &sql.TxOptions{Isolation: sql.LevelReadCommitted}, ""
	if r.dialect.SoleWriter {
		key := r.dialect.Quote(r.table.Key)
		options, first = nil, fmt.Sprintf("UPDATE %s SET %s = %s WHERE 1 = 0", r.dialect.Quote(r.table.Table), key, key)
	} else if wait.Local != "" {
		first = fmt.Sprintf(wait.Local, most)
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

// isRefused reports whether the database refused a statement because of the row that it writes. It
// may accept other rows.
func (c *catalogue) isRefused(err error) bool {
	return c.dialect.Refuses(err) || errors.Is(err, errBadKey)
}

// errBadKey: a new row has no key, or one that other rows name as their parent already.
var errBadKey = errors.New("fsck")

// canceled adds the context's cause to an error, if the context has ended. Some databases report an
// interruption in their own words.
func canceled(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}
