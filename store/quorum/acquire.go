package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/pathlock-go/pathlock"
)

const (
	// longestConfirmation is how long a request waits in the queues of the members that confirm a
	// grant, in case a release is on its way.
	longestConfirmation = 100 * time.Millisecond
	// linger is the part of the time-out for which a request that has a majority waits for the
	// others: the more members have a grant, the more may fail.
	linger = 10
	// firstPause and longestPause bound the pauses between two tries.
	firstPause, longestPause = 10 * time.Millisecond, 200 * time.Millisecond
)

// Acquire implements [pathlock.Store]. The first member that serves decides the order, and a
// majority that it belongs to makes the grant: see "How it works" in the package's documentation.
//
// A [*pathlock.ConflictError] or a [*pathlock.DeadlockError] comes from a member. The error is a
// [*MajorityError] if no majority answers. A call that repeats another begins after the end of that
// one, and its fence may differ, as other members may answer.
func (s *store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if err := s.begin(); err != nil {
		return pathlock.Grant{}, err
	}
	defer s.running.Done()
	req.Wait, req.Lease = min(req.Wait, pathlock.Forever), min(req.Lease, pathlock.Forever)
	r := &request{Acquisition: req, store: s, key: key{req.Tree, req.Owner, req.Grant}, began: time.Now()}
	r.until = r.began.Add(max(req.Wait, 0)).Add(time.Duration(len(s.members))*s.config.timeout - req.Spent)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	r.ctx = ctx
	if ctx.Err() != nil {
		return pathlock.Grant{}, r.interrupted()
	}
	granted, err := r.acquire()
	if err != nil {
		return pathlock.Grant{}, err
	}
	return pathlock.Grant{Fence: granted.fence(), Asked: granted.asked(s.majority)}, nil
}

// key names a request, and its grant. Without a grant it is all that an owner has.
type key struct {
	tree  pathlock.Tree
	owner pathlock.Owner
	grant pathlock.GrantID
}

// request is an acquisition under way.
type request struct {
	pathlock.Acquisition
	store *store
	key   key
	// ctx ends with the caller's, and with the store.
	ctx   context.Context
	began time.Time
	// until is when the call ends at the latest.
	until time.Time
	// told says that the caller knows that the request waits.
	told bool

	// Of the latest try: the questions, why members did not grant, and one of their conflicts.
	asks    []*ask
	failed  map[*member]error
	refused error
}

// acquire tries until a majority has granted the request, or it has to end.
//
// Processes that do not reach the same members may have different leads. Then each may win some of
// the members, and none a majority. So a try that fails leaves nothing, and the next one begins
// after a random pause.
func (r *request) acquire() (grants, error) {
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = firstPause, longestPause
	for {
		if granted, err := r.try(); granted != nil || err != nil {
			return granted, err
		}
		if r.remaining() > 0 {
			r.announce()
			pause(r.ctx, min(pauses.NextBackOff(), r.remaining()))
		}
		switch err := r.hopeless(); {
		case err != nil:
			return nil, err
		case r.remaining() > 0 && r.ctx.Err() == nil:
		case r.refused == nil:
			return nil, r.unavailable()
		default:
			return nil, r.conflict(r.refused)
		}
	}
}

// announce tells the caller, once, that the request waits.
func (r *request) announce() {
	if !r.told && r.Wait > 0 {
		r.told = true
		if r.Waiting != nil {
			r.Waiting()
		}
	}
}

// remaining returns how much of the wait is left.
func (r *request) remaining() time.Duration { return max(0, r.Wait-time.Since(r.began)) }

// patience returns how long a member has to answer.
func (r *request) patience() time.Duration {
	return max(0, min(r.store.config.timeout, time.Until(r.until)))
}

// noteSilent notes that a member has not answered in time, unless the call itself has run out of
// time.
func (r *request) noteSilent(m *member) {
	if time.Now().Before(r.until) {
		m.silence(errTimeout)
	}
}

// serving returns the members that serve, and may grant the request in this try, in their order.
func (r *request) serving() []*member {
	return slices.DeleteFunc(slices.Clone(r.store.members), func(m *member) bool {
		return m.whySilent() != nil || !isAnswer(r.failed[m])
	})
}

func (r *request) operation() string { return "acquire in " + r.Tree.String() }

// interrupted returns the error of a request whose context has ended, or whose store has.
func (r *request) interrupted() error {
	if r.store.life.Err() != nil {
		return errClosed
	}
	return fmt.Errorf("quorum: %s: %w", r.operation(), r.ctx.Err())
}

// unavailable returns the error of a request that too few members answer.
func (r *request) unavailable() error {
	return r.store.unavailable(r.ctx, r.operation(), func(m *member) error { return cmp.Or(m.whySilent(), r.failed[m]) })
}

// conflict returns the error for a member's refusal, with the duration of the whole wait.
func (r *request) conflict(err error) error {
	conflict, ok := errors.AsType[*pathlock.ConflictError](err)
	if !ok {
		return fmt.Errorf("quorum: %w", err)
	}
	whole := *conflict
	whole.Waited = time.Since(r.began)
	if cause := r.ctx.Err(); errors.Is(cause, context.DeadlineExceeded) && !errors.Is(&whole, cause) {
		whole.Err = errors.Join(whole.Err, cause)
	}
	return &whole
}
