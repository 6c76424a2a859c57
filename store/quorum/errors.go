package quorum

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock"
)

// ErrMembers says that [New] was given no odd number of stores that can serve.
var ErrMembers = errors.New("quorum: not an odd number of stores")

// MajorityError says that no majority of the members could be brought to do something. It matches
// [pathlock.ErrUnavailable].
type MajorityError struct {
	// Operation is what was being done.
	Operation string
	// Members is how many members there are, and Needed how many make a majority.
	Members, Needed int
	// Failed are the members that did not do it, in their order.
	Failed []MemberError
}

// MemberError is why a member did not do what it was asked to.
type MemberError struct {
	// Member is the member's index in the slice that [New] was given. Name is what [WithNames]
	// calls it.
	Member int
	Name   string
	// Err is the member's answer, or why there was none.
	Err error
}

// Error implements error.
func (e *MajorityError) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "quorum: %s: %v: %d of %d members are needed", e.Operation, pathlock.ErrUnavailable, e.Needed, e.Members)
	for _, f := range e.Failed {
		fmt.Fprintf(&s, "; %s: %v", f.Name, f.Err)
	}
	return s.String()
}

// Unwrap returns [pathlock.ErrUnavailable]. What the members answered is not matched: the failure
// of one says nothing of the majority.
func (e *MajorityError) Unwrap() error { return pathlock.ErrUnavailable }

var (
	// errTimeout is why a member counts as silent that has not answered in time.
	errTimeout = errors.New("no answer in time")
	// errClosed is how calls end on a store that has been closed.
	errClosed = fmt.Errorf("quorum: %w: %w", pathlock.ErrUnavailable, pathlock.ErrClosed)
)

// unavailable returns the error for an operation that no majority stands behind, given why each
// member does not. It matches ctx's error if ctx has ended, and pathlock.ErrClosed if the store
// has.
func (s *Store) unavailable(ctx context.Context, operation string, why func(*member) error) error {
	if s.life.Err() != nil {
		return errClosed
	}
	e := &MajorityError{Operation: operation, Members: len(s.members), Needed: s.majority}
	for _, m := range s.members {
		if err := why(m); err != nil {
			e.Failed = append(e.Failed, MemberError{m.index, m.name, err})
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", e, ctx.Err())
	}
	return e
}

// isAnswer reports whether an error, or nil, is what a member that serves can say.
func isAnswer(err error) bool {
	if err == nil {
		return true
	}
	for _, said := range []error{
		pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrLost, pathlock.ErrNotHeld, pathlock.ErrInvalidRequest,
	} {
		if errors.Is(err, said) {
			return true
		}
	}
	return false
}

func isDone(err error) bool { return err == nil }

func isLost(err error) bool { return errors.Is(err, pathlock.ErrLost) }

func isNotHeld(err error) bool { return errors.Is(err, pathlock.ErrNotHeld) }
