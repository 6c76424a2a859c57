package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Acquire implements [pathlock.Store]: one EVALSHA if the request is granted at once. A refusal
// sends a second, to name the blocker. A waiting request learns of its grant by a message, and
// needs to send nothing more.
//
// An acquisition that claims too much, or whose owner has 3,000 grants in the tree, fails with an
// error that matches [pathlock.ErrInvalidRequest]. A [*pathlock.ConflictError] also matches
// redislock.ErrNotObtained. A request whose place in the queue is taken away by ForceRelease ends
// with an error that matches [pathlock.ErrLost].
func (s *store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if n := len(req.Claims); n > s.config.maxClaims {
		return pathlock.Grant{}, fmt.Errorf("redisstore: acquire in %s: %w: %d nodes are claimed, at most %d are allowed",
			req.Tree, pathlock.ErrInvalidRequest, n, s.config.maxClaims)
	}
	began := time.Now()
	r := &request{
		Acquisition: req,
		set:         newClaimSet(req.Gate, req.Claims),
		keys:        s.keys.about(keyOf(req)),
		what:        operation{Verb: "acquire", Tree: req.Tree},
		began:       began,
		until:       began.Add(min(max(req.Wait, 0), pathlock.Forever)).Add(s.config.timeout - req.Spent),
		sent:        counted{value: string(req.Owner)},
	}
	if err := s.calls.begin(); err != nil {
		return pathlock.Grant{}, unavailable(r.what, err)
	}
	defer s.calls.end()
	defer r.end()
	switch err := s.calls.settle(ctx, r, s.left(r)); {
	case err != nil && ctx.Err() != nil:
		return pathlock.Grant{}, interrupted(ctx, r.what)
	case err != nil:
		return pathlock.Grant{}, unavailable(r.what, err)
	}
	if req.Wait <= 0 {
		asked := time.Now()
		answer, err := s.ask(ctx, r, "", 0)
		if err != nil {
			return pathlock.Grant{}, err
		}
		return s.decided(ctx, r, answer, asked)
	}
	w := s.listener.join()
	defer s.listener.leave(w)
	return s.wait(ctx, r, w)
}

// request is an acquisition on its way. It is taken back if nobody waits for the answer.
type request struct {
	pathlock.Acquisition
	set   claimSet
	keys  []string
	what  operation
	began time.Time
	// until is when the call ends at the latest.
	until time.Time
	// sent is the owner as scripts get it, and tells how often the request was sent. asked counts
	// how often its script was called.
	sent  counted
	asked atomic.Int32
	// args are the acquire script's arguments besides the set.
	args struct{ lease, left, channel, ref, origin, held, apart string }
	// inTheWay is the number of the claim that was last in the way.
	inTheWay int
	// graceful is the context that grace returns, nil before its first call.
	graceful context.Context
	cancel   context.CancelFunc
}

// grace returns the context for the work that remains after the request's own context has ended, or
// after its answer: to clean up, and to ask who is in the way. All of that shares one
// [gracePeriod], which begins with the first call, and ends with the request at the latest.
func (r *request) grace(ctx context.Context) context.Context {
	if r.graceful == nil {
		r.graceful, r.cancel = context.WithTimeout(context.WithoutCancel(ctx), min(gracePeriod, time.Until(r.until)))
	}
	return r.graceful
}

// left is how long the server has for the next command of a request.
func (s *store) left(r *request) time.Duration { return min(s.config.timeout, time.Until(r.until)) }

// end releases the resources of the grace period.
func (r *request) end() {
	if r.cancel != nil {
		r.cancel()
	}
}

// writes returns how often the request was sent; a command about no request has 0.
func (r *request) writes() int32 {
	if r == nil {
		return 0
	}
	return r.sent.writes.Load()
}

// requestKey identifies a request.
type requestKey struct {
	tree  pathlock.Tree
	owner pathlock.Owner
	grant pathlock.GrantID
}

func keyOf(a pathlock.Acquisition) requestKey { return requestKey{a.Tree, a.Owner, a.Grant} }

// ask calls the acquire script. An error leaves nothing behind: if the server may have granted or
// queued the request, ask withdraws it in the background.
func (s *store) ask(ctx context.Context, r *request, ref string, wait time.Duration) (reply, error) {
	a := &r.args
	a.lease, a.left, a.channel, a.ref = leaseTime(r.Lease), milliseconds(wait), s.listener.channel, ref
	a.origin, a.held, a.apart = encodeOrigin(r.Origin), flag(r.Held), flag(r.Apart)
	// A pointer to a text is an argument as the text is, and costs no copy.
	args := []any{
		&r.sent, (*string)(&r.Grant), &a.lease, &a.left, &a.channel, &a.ref, &r.set.claims, &r.set.paths, &r.Note,
		&a.origin, &a.held, s.config.maxWaiters, &a.apart,
	}
	return doFor(ctx, s.calls, r.what, r, s.left(r), func(ctx context.Context) (reply, error) {
		r.asked.Add(1)
		return s.scripts.acquire.ask(ctx, s.client, r.keys, args...)
	})
}

// errWithdrawn is why a request that was taken back before is refused: its caller gave up, or its
// answer was lost.
var errWithdrawn = errors.New("the request has been withdrawn")

// decided returns what a final answer of the acquire script means; asked is when the question left.
func (s *store) decided(ctx context.Context, r *request, answer reply, asked time.Time) (pathlock.Grant, error) {
	switch answer.status {
	case statusGranted:
		return s.granted(ctx, r, answer.number(0), asked)
	case statusBusy:
		return pathlock.Grant{}, s.conflict(ctx, r, int(answer.number(0)), nil)
	case statusFull:
		return pathlock.Grant{}, s.conflict(ctx, r, int(answer.number(0)), pathlock.ErrQueueFull)
	case statusLost:
		return pathlock.Grant{}, fmt.Errorf("redisstore: %s: %w: owner %s holds nothing any more", r.what, pathlock.ErrLost, r.Owner.Short())
	case statusWithdrawn:
		return pathlock.Grant{}, unavailable(r.what, errWithdrawn)
	case statusCrowded:
		return pathlock.Grant{}, fmt.Errorf("redisstore: %s: %w: the owner has %s grants there already: claim an ancestor, or the gate",
			r.what, pathlock.ErrInvalidRequest, answer.text(0))
	case statusDeadlock:
		return pathlock.Grant{}, s.deadlock(ctx, r, int(answer.number(0)), pathlock.Owner(answer.text(1)))
	default:
		return pathlock.Grant{}, unavailable(r.what, fmt.Errorf("unexpected reply %q", answer.status))
	}
}

// granted returns a grant. It gives the grant back if ctx has ended meanwhile.
func (s *store) granted(ctx context.Context, r *request, fence uint64, asked time.Time) (pathlock.Grant, error) {
	if ctx.Err() != nil {
		s.calls.undo(r.grace(ctx), r)
		return pathlock.Grant{}, interrupted(ctx, r.what)
	}
	return pathlock.Grant{Fence: fence, Asked: asked}, nil
}
