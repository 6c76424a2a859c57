package quorum

import (
	"context"
	"errors"
	"time"
)

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

// poll asks all members that are not silent at once what each of them answers without waiting for
// anybody. It returns when all have answered, or have had the time to, or when ctx ends: those that
// have not answered do what they are asked all the same.
func poll[T any](ctx context.Context, s *Store, operation string, question func(context.Context, *member) (T, error)) answers[T] {
	out := answers[T]{s, operation, make([]answer[T], len(s.members))}
	came := make(chan answer[T], len(s.members))
	pending := 0
	for i, m := range s.members {
		if why := m.whySilent(); why != nil {
			out.all[i] = answer[T]{member: m, err: why}
			continue
		}
		out.all[i] = answer[T]{member: m, err: errTimeout}
		pending++
		s.running.Go(func() {
			ctx, cancel := s.bound(ctx)
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
	patience := time.NewTimer(s.config.timeout)
	defer patience.Stop()
	for ; pending > 0; pending-- {
		select {
		case a := <-came:
			out.all[a.member.index] = a
		case <-patience.C:
			return out
		case <-ctx.Done():
			return out
		}
	}
	return out
}

// bound returns a context that ends with ctx, with the store, and after the time that a member has
// to answer, with errTimeout as the cause in that case.
func (s *Store) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.timeout, errTimeout)
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
	return a.store.unavailable(ctx, a.operation, func(m *member) error { return a.all[m.index].err })
}
