package fsck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pathlock-go/pathlock"
)

// attempts is how often a transaction that the database gave up is tried.
const attempts = 10

// mending mends rows of one tree, within a transaction.
type mending func(context.Context, *editor, []Key) error

// batch mends some rows: those of each tree in one transaction.
func (r *repair) batch(ctx context.Context, batch []suspect, mend mending) error {
	var trees []Key
	keys := make(map[Key][]Key)
	for _, s := range batch {
		if s.key.isFraction() {
			if err := r.skip(Skip{Tree: s.tree, ID: s.key, Why: BadKey, Reason: "its key is no whole number"}); err != nil {
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
		if err := r.inTree(ctx, tree, keys[tree], mend); err != nil {
			return err
		}
	}
	return nil
}

// inTree mends rows in a transaction, with the tree's gate. A tree that cannot be locked, or that
// others keep busy, is left.
func (r *repair) inTree(ctx context.Context, tree Key, keys []Key, mend mending) error {
	if ctx.Err() != nil {
		return fmt.Errorf("fsck: repair %s: %w", r.table.Table, context.Cause(ctx))
	}
	if r.left[tree] {
		return nil
	}
	name, err := r.lockable(tree)
	if err != nil {
		return r.leave(tree, err)
	}
	if r.dry != nil {
		return r.pretend(ctx, tree, keys, mend)
	}
	held, release, err := r.gate(ctx, name)
	switch {
	case errors.Is(err, pathlock.ErrConflict) || errors.Is(err, pathlock.ErrDeadlock):
		return r.leave(tree, err)
	case err != nil:
		return err
	}
	err = r.persist(ctx, held, tree, keys, mend)
	switch released := release(); {
	case released != nil || err == nil || ctx.Err() != nil:
		return errors.Join(err, released)
	case isBusy(err), isRetryable(err):
		return r.leave(tree, err)
	case !isRefused(err):
		return err
	case len(keys) == 1:
		return r.skip(Skip{Tree: tree, ID: keys[0], Reason: err.Error()})
	}
	// It was refused as a whole, when it was committed: whose fault that is, each row shows by
	// itself.
	for _, k := range keys {
		if err := r.inTree(ctx, tree, []Key{k}, mend); err != nil {
			return err
		}
	}
	return nil
}

// lockable returns the tree's name among the locks.
func (r *repair) lockable(tree Key) (pathlock.Tree, error) {
	if tree.v == nil {
		return pathlock.Tree{}, fmt.Errorf("%w: the rows are in no tree", pathlock.ErrInvalidTree)
	}
	if tree.isFraction() {
		return pathlock.Tree{}, fmt.Errorf("%w: the tree's id is no whole number", pathlock.ErrInvalidTree)
	}
	return pathlock.NewTree(r.table.Namespace, tree.String())
}

// pretend is what a dry run does instead of a transaction.
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

// persist tries a transaction until it is committed, or until that makes no sense: with care where
// the database refuses something, and for as long as there is time where somebody else has what it
// needs.
func (r *repair) persist(ctx, held context.Context, tree Key, keys []Key, mend mending) error {
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

// gate takes the gate of a tree and returns the context of what is done under it, which ends if the
// gate is lost, and not with ctx.
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

// transact runs f in a transaction, and commits it when the log has the changes. The end of ctx
// ends what f does, with any wait for a row that somebody else has locked. A transaction that f is
// done with is committed all the same.
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
			r.known.forget() // what the transaction has changed is undone
			if ended := tx.Rollback(); ended != nil && !errors.Is(ended, sql.ErrTxDone) && working.Err() == nil {
				err = errors.Join(err, fmt.Errorf("fsck: repair %s: %w", r.table.Table, ended))
			}
		}
		end()
	}()
	clear(r.known.roots) // they were locked by the transaction before
	clear(r.known.homes)
	r.transaction++
	e := r.editor(&session{catalogue: r.catalogue, tx: tx, locks: true}, tree)
	e.careful = careful
	if err := e.immediately(working); err != nil {
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

// editor returns the editor of a tree's rows in a session.
func (r *repair) editor(s *session, tree Key) *editor {
	return &editor{
		session: s, placing: placing{r.opts.LostFound, r.opts.ToTop}, known: r.known, tree: tree,
		transaction: r.transaction, aside: make(map[value]string),
	}
}
