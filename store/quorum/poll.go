package quorum

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// poll is a question to all members at once that each of them answers without waiting for anybody.
type poll[T any] struct {
	store     *Store
	operation string
	// everybody asks the silent too, and ends the poll with the first majority that succeeds.
	everybody bool
	// linger is how long to wait for the others when a majority has answered; 0 means the time that
	// a member has to answer.
	linger time.Duration
	// only, where not nil, is the only member to ask.
	only *member
}

// question is what a poll asks each member.
type question[T any] func(context.Context, *member) (T, error)

// answer is what a member said.
type answer[T any] struct {
	member *member
	value  T
	err    error
	at     time.Time
}

// answers are what the members said, in their order.
type answers[T any] struct {
	store     *Store
	operation string
	all       []answer[T]
}

// ask asks the members, and returns when all have answered, or a majority has and the others take
// their time. Those that are asked too late to answer do what they are asked all the same.
func (p poll[T]) ask(ctx context.Context, question question[T]) answers[T] {
	timeout := p.store.config.timeout
	out := answers[T]{p.store, p.operation, make([]answer[T], len(p.store.members))}
	came := make(chan answer[T], len(p.store.members))
	pending := 0
	for i, m := range p.store.members {
		out.all[i] = answer[T]{member: m, err: errTimeout}
		if p.only != nil && p.only != m {
			continue
		}
		if why := m.whySilent(); why != nil && !p.everybody {
			out.all[i].err = why
			continue
		}
		pending++
		p.store.running.Go(func() {
			ctx, cancel := p.store.bound(ctx, timeout)
			defer cancel()
			value, err := question(ctx, m)
			if cause := context.Cause(ctx); !isAnswer(err) && (cause == nil || errors.Is(cause, errTimeout)) {
				if cause != nil {
					err = errTimeout
				}
				m.silence(err)
			}
			came <- answer[T]{m, value, err, time.Now()}
		})
	}
	linger := p.linger
	if linger <= 0 {
		linger = timeout
	}
	patience := time.NewTimer(timeout)
	defer patience.Stop()
	for succeeded, answered := 0, 0; pending > 0; {
		select {
		case a := <-came:
			out.all[a.member.index] = a
			pending--
			if isAnswer(a.err) {
				answered++
			}
			if a.err == nil {
				succeeded++
			}
			if p.everybody && succeeded >= p.store.majority {
				return out
			}
			if answered == p.store.majority {
				patience.Reset(min(linger, timeout))
			}
		case <-patience.C:
			return out
		case <-ctx.Done():
			return out
		}
	}
	return out
}

// bound returns a context that ends with ctx, with the store, and after a time, with errTimeout as
// the cause in that case.
func (s *Store) bound(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errTimeout)
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// count returns how many members answered what is wanted.
func (a answers[T]) count(wanted func(error) bool) int {
	n := 0
	for _, one := range a.all {
		if wanted(one.err) {
			n++
		}
	}
	return n
}

// silent returns how many members have not answered.
func (a answers[T]) silent() int {
	return a.count(func(err error) bool { return !isAnswer(err) })
}

// unavailable returns the error for answers that no majority stands behind.
func (a answers[T]) unavailable(ctx context.Context) error {
	var failed []MemberError
	for _, one := range a.all {
		if one.err != nil {
			failed = append(failed, MemberError{one.member.index, one.member.name, one.err})
		}
	}
	return a.store.unavailable(ctx, a.operation, failed)
}

// unavailable returns the error for an operation that no majority stands behind. It matches ctx's
// error if ctx has ended, and pathlock.ErrClosed if the store has.
func (s *Store) unavailable(ctx context.Context, operation string, failed []MemberError) error {
	if s.life.Err() != nil {
		return errClosed
	}
	err := &MajorityError{operation, len(s.members), s.majority, failed}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return err
}
