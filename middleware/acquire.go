package middleware

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bsm/redislock"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
)

// acquire takes what the spec says for the request that values are of: it
// resolves, locks, and looks again, until the nodes are found where they
// were when the locks were planned.
func (m *Locks) acquire(ctx context.Context, values *values, spec lockspec.Spec) (held, error) {
	var retry redislock.RetryStrategy
	for {
		planned, err := m.bind(ctx, values, spec)
		if err != nil {
			return nil, err
		}
		locks, err := m.take(ctx, planned)
		if err != nil {
			return nil, err
		}
		if !m.looksAgain(planned, locks) {
			return locks, nil
		}
		found, err := m.bind(locks.context(ctx), values, spec)
		if err == nil && slices.Equal(planned.Nodes, found.Nodes) {
			return locks, nil
		}
		locks.release(ctx)
		if retry == nil {
			retry = m.config.Retry()
		}
		if err == nil {
			err = m.pause(ctx, retry.NextBackoff(), planned, found)
		}
		if err != nil {
			return nil, err
		}
	}
}

// looksAgain reports whether it is for the middleware to find out that nodes moved before they were locked. Where
// a request waited it always is: those that it waited for may well have moved them, and the
// assertion could do no better than to refuse.
func (m *Locks) looksAgain(planned lockspec.Binding, locks held) bool {
	if len(planned.Nodes) == 0 {
		return false
	}
	return !m.config.Asserted || slices.ContainsFunc(locks, (*pathlock.Lock).Waited)
}

// bind finds out what the spec means for the request now.
func (m *Locks) bind(ctx context.Context, values *values, spec lockspec.Spec) (lockspec.Binding, error) {
	values.again()
	ids, err := spec.IDs(values.get)
	if err != nil {
		return lockspec.Binding{}, err
	}
	values.again()
	return spec.Bind(values.get, m.resolve(ctx, ids))
}

// take acquires the binding's requests one after the other, all or none.
func (m *Locks) take(ctx context.Context, binding lockspec.Binding) (held, error) {
	var locks held
	for _, req := range binding.Requests {
		req.Wait, req.Lease = m.config.Wait, m.config.Lease
		lock, err := m.locker.Acquire(locks.context(ctx), req)
		if err != nil {
			locks.release(ctx)
			return nil, err
		}
		locks = append(locks, lock)
	}
	return locks, nil
}

// pause waits for the time that the strategy says, or says that enough has been tried.
func (m *Locks) pause(ctx context.Context, backoff time.Duration, planned, found lockspec.Binding) error {
	if backoff <= 0 {
		return changed(planned, found)
	}
	timer := time.NewTimer(backoff)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("middleware: waiting to lock again: %w", context.Cause(ctx))
	}
}

// changed names a node whose path changed.
func changed(planned, found lockspec.Binding) error {
	for i, was := range planned.Nodes {
		if i < len(found.Nodes) && found.Nodes[i] != was {
			return fmt.Errorf("%w: %s is now %s, again and again while its lock was being taken",
				pathlock.ErrPathChanged, was.Path, found.Nodes[i].Path)
		}
	}
	return fmt.Errorf("%w: again and again while the locks were being taken", pathlock.ErrPathChanged)
}
