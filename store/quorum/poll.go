package quorum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// MajorityError says that an operation failed because no majority of the members did it. It matches
// [pathlock.ErrUnavailable].
type MajorityError struct {
	// Failed has an error for each member that did not do it, in their order. It begins with the
	// member's name (see [WithNames]), and wraps its answer, or why there was none.
	Failed []error

	operation string
	// members is how many members there are, and needed how many make a majority.
	members, needed int
}

// Error implements error.
func (e *MajorityError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "quorum: %s: %v: %d of %d members are needed", e.operation, pathlock.ErrUnavailable, e.needed, e.members)
	for _, failed := range e.Failed {
		fmt.Fprintf(&s, "; %v", failed)
	}
	return s.String()
}

// Unwrap returns [pathlock.ErrUnavailable]. It does not match the members' answers: the failure of
// one says nothing about the majority.
func (e *MajorityError) Unwrap() error { return pathlock.ErrUnavailable }

// unavailable returns the error for an operation that no majority stands behind, given why each
// member does not. It matches ctx's error if ctx has ended, and pathlock.ErrClosed if the store
// has.
func (s *store) unavailable(ctx context.Context, operation string, why func(*member) error) error {
	if s.life.Err() != nil {
		return errClosed
	}
	e := &MajorityError{operation: operation, members: len(s.members), needed: s.majority}
	for _, m := range s.members {
		if err := why(m); err != nil {
			e.Failed = append(e.Failed, fmt.Errorf("%s: %w", m.name, err))
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", e, ctx.Err())
	}
	return e
}

// errTimeout is why a member that has not answered in time counts as silent.
var errTimeout = errors.New("no answer in time")

// isAnswer reports whether an error, or nil, can be the answer of a member that serves.
func isAnswer(err error) bool {
	answers := []error{nil, pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrLost, pathlock.ErrNotHeld, pathlock.ErrInvalidRequest}
	return slices.ContainsFunc(answers, func(answer error) bool { return errors.Is(err, answer) })
}

func isLost(err error) bool { return errors.Is(err, pathlock.ErrLost) }

// answer is what a member said.
type answer[T any] struct {
	member *member
	value  T
	err    error
	at     time.Time
}

// answers are what the members said, in their order.
type answers[T any] struct {
	store     *store
	operation string
	all       []answer[T]
}

// poll asks all members that are not silent at once. A member can answer question without waiting
// for anybody. poll returns when all have answered, when their time is up, or when ctx ends. A
// member that has not answered may still do what it was asked.
func poll[T any](ctx context.Context, s *store, operation string, question func(context.Context, *member) (T, error)) answers[T] {
	ctx, cancel := s.bound(ctx)
	defer cancel()
	out := answers[T]{s, operation, make([]answer[T], len(s.members))}
	came := make(chan answer[T], len(s.members))
	pending := 0
	for i, m := range s.members {
		if out.all[i] = (answer[T]{member: m, err: m.whySilent()}); out.all[i].err != nil {
			continue
		}
		out.all[i].err = errTimeout
		pending++
		s.running.Go(func() {
			value, err := question(ctx, m)
			came <- answer[T]{m, value, err, time.Now()}
		})
	}
	for ; pending > 0 && ctx.Err() == nil; pending-- {
		select {
		case a := <-came:
			out.all[a.member.index] = a
		case <-ctx.Done():
		}
	}
	if cause := context.Cause(ctx); cause == nil || errors.Is(cause, errTimeout) {
		for _, a := range out.all {
			if !isAnswer(a.err) {
				a.member.silence(a.err)
			}
		}
	}
	return out
}

// bound returns a context that ends with ctx, with the store, and after the time that a member has
// to answer, with errTimeout as the cause in that case.
func (s *store) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.config.timeout, errTimeout)
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() { stop(); cancel() }
}

// count returns how many members answered with an error, or with nil.
func (a answers[T]) count(wanted error) (n int) {
	for _, one := range a.all {
		if errors.Is(one.err, wanted) {
			n++
		}
	}
	return n
}

// silent returns how many members have not answered.
func (a answers[T]) silent() (n int) {
	for _, one := range a.all {
		if !isAnswer(one.err) {
			n++
		}
	}
	return n
}

// unavailable returns the error for answers that no majority stands behind.
func (a answers[T]) unavailable(ctx context.Context) error {
	return a.store.unavailable(ctx, a.operation, func(m *member) error { return a.all[m.index].err })
}
