package fsck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock"
)

// attempts is how often a transaction that the database gave up is tried.
const attempts = 10

// batch mends some rows: those of each tree in one transaction.
func (r *repair) batch(ctx context.Context, batch []suspect, mend func(context.Context, *editor, []Key) error) error {
	var trees []Key
	keys := make(map[Key][]Key)
	for _, s := range batch {
		if keys[s.tree] == nil {
			trees = append(trees, s.tree)
		}
		keys[s.tree] = append(keys[s.tree], s.key)
	}
	for _, tree := range trees {
		if err := r.inTree(ctx, tree, func(ctx context.Context, e *editor) error { return mend(ctx, e, keys[tree]) }); err != nil {
			return err
		}
	}
	return nil
}

// inTree runs f in a transaction, with the tree's gate. Once that has begun, the end of ctx does not end it.
func (r *repair) inTree(ctx context.Context, tree Key, f func(context.Context, *editor) error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("fsck: repair %s: %w", r.table.Name, context.Cause(ctx))
	}
	if len(r.roots) >= remembered {
		r.forget()
	}
	if r.dry != nil {
		e := &editor{session: r.dry, repair: r}
		if err := f(ctx, e); err != nil {
			return err
		}
		return r.changed(e.changes)
	}
	held, release, err := r.gate(ctx, tree)
	if err != nil {
		return err
	}
	careful := false
	for try := 1; ; try++ {
		err = r.transact(held, careful, f)
		refused := isDuplicate(err) && !careful
		if err == nil || try == attempts || !refused && !isRetryable(err) || ctx.Err() != nil {
			break
		}
		careful = careful || refused
	}
	return errors.Join(err, release())
}

// gate takes the gate of a tree and returns the context to work under, which ends if the gate is lost.
func (r *repair) gate(ctx context.Context, tree Key) (context.Context, func() error, error) {
	detached, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if r.opts.Locker == nil {
		return detached, func() error { cancel(); return nil }, nil
	}
	t, err := pathlock.NewTree(r.table.Namespace, tree.String())
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("fsck: lock tree %v: %w", tree, err)
	}
	stop := context.AfterFunc(ctx, cancel) // while it waits
	lock, err := r.opts.Locker.Acquire(detached, pathlock.Request{Tree: t, Gate: true, Wait: r.opts.Wait, Note: "pathlock fsck"})
	if err != nil {
		stop()
		cancel()
		return nil, nil, fmt.Errorf("fsck: lock tree %v: %w", tree, err)
	}
	stop()
	return lock.Context(), func() error {
		defer cancel()
		if err := lock.Release(ctx); err != nil {
			return fmt.Errorf("fsck: unlock tree %v: %w", tree, err)
		}
		return nil
	}, nil
}

// transact runs f in a transaction, and commits it when the log has the changes.
func (r *repair) transact(ctx context.Context, careful bool, f func(context.Context, *editor) error) (err error) {
	tx, err := r.db.BeginTx(ctx, r.dialect.writing())
	if err != nil {
		return fmt.Errorf("fsck: repair %s: %w", r.table.Name, err)
	}
	committed := false
	defer func() {
		if committed {
			return
		}
		r.forget() // what the transaction has changed is undone
		if ended := tx.Rollback(); ended != nil && !errors.Is(ended, sql.ErrTxDone) {
			err = errors.Join(err, fmt.Errorf("fsck: repair %s: %w", r.table.Name, ended))
		}
	}()
	if r.dialect == SQLite {
		// The first statement makes the transaction the writer, so that all it reads is what it changes.
		key := r.dialect.quote(r.table.Key)
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET %s = %s WHERE 1 = 0", r.dialect.quote(r.table.Name), key, key)); err != nil {
			return fmt.Errorf("fsck: repair %s: %w", r.table.Name, err)
		}
	}
	r.transaction++
	e := &editor{session: &session{Checker: r.Checker, tx: tx, locks: true}, repair: r, careful: careful, aside: make(map[value]string)}
	if err := e.immediately(ctx); err != nil {
		return err
	}
	if err := f(ctx, e); err != nil || len(e.changes) == 0 {
		return err
	}
	if err := r.log.write(e.changes); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("fsck: repair %s: commit: %w", r.table.Name, err)
	}
	committed = true
	r.summary.Transactions++
	if err := r.log.committed(r.transaction); err != nil {
		return err
	}
	return r.changed(e.changes)
}

// changed counts changes and tells of them.
func (r *repair) changed(changes []Change) error {
	r.summary.Changes += int64(len(changes))
	if r.opts.Changed == nil {
		return nil
	}
	for _, c := range changes {
		if err := r.opts.Changed(c); err != nil {
			return err
		}
	}
	return nil
}
