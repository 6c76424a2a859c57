package fsck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// attempts is the most times that a transaction is tried.
const attempts = 10

// mending repairs rows of one tree within a transaction.
type mending func(context.Context, *editor, []Key) error

// batch repairs some rows, those of each tree in one transaction.
func (r *repair) batch(ctx context.Context, batch []suspect, mend mending) error {
	var trees []Key
	keys := make(map[Key][]Key)
	for _, s := range batch {
		if s.key.isFraction() {
			if err := r.skip(Skip{Tree: s.tree, ID: s.key, Why: BadKey, Reason: "its key is not a whole number"}); err != nil {
				return err
			}
			continue
		}
		if keys[s.tree] == nil {
			trees = append(trees, s.tree)
		}
		keys[s.tree] = append(keys[s.tree], s.key)
	}
	for _, tree := range trees {
		if err := r.treeBatch(ctx, tree, keys[tree], mend); err != nil {
			return err
		}
	}
	return nil
}

// treeBatch repairs rows of one tree in a transaction, under the tree's gate. It skips a tree that
// cannot be locked, or that other sessions keep busy.
func (r *repair) treeBatch(ctx context.Context, tree Key, keys []Key, mend mending) error {
	if ctx.Err() != nil {
		return fmt.Errorf("fsck: repair %s: %w", r.table.Table, context.Cause(ctx))
	}
	if r.skippedTrees[tree] {
		return nil
	}
	name, err := r.lockable(tree)
	if err != nil {
		return r.skipTree(tree, err)
	}
	if r.dry != nil {
		return r.pretend(ctx, tree, keys, mend)
	}
	held, release, err := r.gate(ctx, name)
	switch {
	case errors.Is(err, pathlock.ErrConflict) || errors.Is(err, pathlock.ErrDeadlock):
		return r.skipTree(tree, err)
	case err != nil:
		return err
	}
	err = r.retry(ctx, held, tree, keys, mend)
	switch released := release(); {
	case released != nil || err == nil || ctx.Err() != nil:
		return errors.Join(err, released)
	case isBusy(err), isRetryable(err):
		return r.skipTree(tree, err)
	case !isRefused(err):
		return err
	case len(keys) == 1:
		return r.skip(Skip{Tree: tree, ID: keys[0], Reason: err.Error()})
	}
	// The database refused the commit. Repairing each row by itself shows which one is at fault.
	for _, k := range keys {
		if err := r.treeBatch(ctx, tree, []Key{k}, mend); err != nil {
			return err
		}
	}
	return nil
}

// lockable returns the tree as the locks know it, or an error if it cannot be locked.
func (r *repair) lockable(tree Key) (pathlock.Tree, error) {
	if tree.v == nil {
		return pathlock.Tree{}, fmt.Errorf("%w: the rows are in no tree", pathlock.ErrInvalidTree)
	}
	if tree.isFraction() {
		return pathlock.Tree{}, fmt.Errorf("%w: the tree's id is not a whole number", pathlock.ErrInvalidTree)
	}
	return pathlock.NewTree(r.table.Namespace, tree.String())
}

// pretend runs a dry run's part of a transaction.
func (r *repair) pretend(ctx context.Context, tree Key, keys []Key, mend mending) error {
	if len(r.known.roots) >= remembered {
		r.known.forget()
	}
	e := r.editor(r.dry, tree)
	if err := mend(ctx, e, keys); err != nil {
		return err
	}
	if err := r.skip(e.skips...); err != nil {
		return err
	}
	return r.changed(e.changes)
}

// retry tries a transaction until it is committed, or until another try is pointless. After a
// refusal it tries again with care. While other sessions hold a lock, it tries again until
// [RepairOptions.Wait] is over.
func (r *repair) retry(ctx, held context.Context, tree Key, keys []Key, mend mending) error {
	careful := false
	begun := time.Now()
	for try := 1; ; try++ {
		err := r.transact(ctx, held, tree, careful, func(ctx context.Context, e *editor) error { return mend(ctx, e, keys) })
		refused := isRefused(err) && !careful
		again := refused || isRetryable(err) || isBusy(err) && time.Since(begun) < r.opts.Wait
		if err == nil || !again || try == attempts || ctx.Err() != nil {
			return err
		}
		careful = careful || refused
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

// transact runs f in a transaction, writes the changes to the log, and commits. The end of ctx ends
// f, and its waits for row locks. Once f is done, the transaction is committed all the same.
func (r *repair) transact(ctx, held context.Context, tree Key, careful bool, f func(context.Context, *editor) error) (err error) {
	working, stop := context.WithCancelCause(held)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })()
	tx, end, err := r.begin(working, held)
	if err != nil {
		return fmt.Errorf("fsck: repair %s: %w", r.table.Table, err)
	}
	committed := false
	defer func() {
		if !committed {
			r.known.forget()
			if ended := tx.Rollback(); ended != nil && !errors.Is(ended, sql.ErrTxDone) && working.Err() == nil {
				err = errors.Join(err, fmt.Errorf("fsck: repair %s: %w", r.table.Table, ended))
			}
		}
		end()
	}()
	clear(r.known.roots) // only the transaction before had them locked
	clear(r.known.lostFounds)
	r.transaction++
	e := r.editor(&session{catalogue: r.catalogue, tx: tx, locks: true}, tree)
	e.careful = careful
	if err := e.constrainAtOnce(working); err != nil {
		return err
	}
	if err := f(working, e); err != nil {
		return err
	}
	if len(e.changes) == 0 {
		return r.skip(e.skips...)
	}
	if err := r.log.write(e.changes); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("fsck: repair %s: commit: %w", r.table.Table, err)
	}
	committed = true
	r.summary.Transactions++
	if err := r.log.committed(r.transaction); err != nil {
		return err
	}
	if err := r.skip(e.skips...); err != nil {
		return err
	}
	return r.changed(e.changes)
}

// editor returns an editor of a tree's rows in a session.
func (r *repair) editor(s *session, tree Key) *editor {
	return &editor{
		session: s, placing: placing{r.opts.LostFound, r.opts.ToTop}, known: r.known, tree: tree,
		transaction: r.transaction, aside: make(map[cell]string),
	}
}
