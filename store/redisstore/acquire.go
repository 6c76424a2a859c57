package redisstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Acquire implements [pathlock.Store]: one EVALSHA if the request is granted or refused at once. A
// request that waits is woken by the message that it has been granted, and has nothing more to
// send.
//
// An acquisition that makes no sense, or claims too much, gives an error that matches
// [pathlock.ErrInvalidRequest]. A [*pathlock.ConflictError] also matches redislock.ErrNotObtained.
// A request whose place in the queue is taken away by ForceRelease ends with an error that matches
// [pathlock.ErrLost].
func (s *Store) Acquire(ctx context.Context, req pathlock.Acquisition) (pathlock.Grant, error) {
	if err := req.Validate(); err != nil {
		return pathlock.Grant{}, fmt.Errorf("redisstore: %w", err)
	}
	if n := len(req.Claims); n > s.config.maxClaims {
		return pathlock.Grant{}, fmt.Errorf("redisstore: acquire in %s: %w: %d nodes are claimed, at most %d are allowed",
			req.Tree, pathlock.ErrInvalidRequest, n, s.config.maxClaims)
	}
	r := &request{
		Acquisition: req,
		set:         newClaimSet(req.Gate, req.Claims),
		keys:        s.keys.of(req.Tree),
		what:        operation{verb: "acquire", tree: req.Tree},
		began:       time.Now(),
		owner:       counted{value: string(req.Owner)},
	}
	if err := s.begin(); err != nil {
		return pathlock.Grant{}, unavailable(r.what, err)
	}
	defer s.commands.Done()
	if err := s.takeBacks.forget(ctx, r); ctx.Err() != nil {
		return pathlock.Grant{}, interrupted(ctx, r.what)
	} else if err != nil {
		return pathlock.Grant{}, unavailable(r.what, err)
	}
	if req.Wait <= 0 {
		return s.askOnce(ctx, r)
	}
	w := s.listener.join(waitKey{req.Tree, req.Owner, req.Grant})
	defer s.listener.leave(w)
	return s.wait(ctx, r, w)
}

// askOnce asks for what is not to be waited for.
func (s *Store) askOnce(ctx context.Context, r *request) (pathlock.Grant, error) {
	for late := 0; ; late++ {
		asked := time.Now()
		answer, err := s.ask(ctx, r, "", 0)
		if err != nil {
			return pathlock.Grant{}, err
		}
		if answer.status != "granted" || !r.ended(asked) {
			return s.decided(ctx, r, answer, asked)
		}
		if late == mostLate {
			return pathlock.Grant{}, s.tooLate(r)
		}
	}
}

// mostLate is how many grants that have come too late are asked for again, one after the other: a
// process or a host that was stopped is late once, a lease that is shorter than the way to the
// server always.
const mostLate = 3

// tooLate gives up a request whose grants have ended by the time that they are heard of.
func (s *Store) tooLate(r *request) error {
	s.undo(r)
	return unavailable(r.what, fmt.Errorf("the grant took longer to arrive than its lease of %v lasts", r.Lease))
}

// request is an acquisition on its way.
type request struct {
	pathlock.Acquisition
	set   claimSet
	keys  []string
	what  operation
	began time.Time
	// owner is the owner as scripts get it, and tells whether the request has ever been sent.
	owner counted
	// asked counts how often the acquire script has been called for the request.
	asked atomic.Int32
}

// ended reports whether a lease that was asked for at a moment may have ended by now. The wall
// clock goes on where a host is suspended; the other clock may not.
func (r *request) ended(asked time.Time) bool {
	now := time.Now()
	return max(now.Sub(asked), now.Round(0).Sub(asked.Round(0))) >= r.Lease
}

// ask calls the acquire script. After an error nothing stays: what the server may have
// granted or queued all the same is withdrawn in the background.
func (s *Store) ask(ctx context.Context, r *request, ref string, wait time.Duration) (reply, error) {
	lease, left, channel := leaseTime(r.Lease), milliseconds(wait), s.listener.channel(r.Tree)
	held, apart, turn := flag(r.Held), flag(r.Apart), askedOnce
	args := []any{
		&r.owner, (*string)(&r.Grant), &lease, &left, &channel, &ref, &r.set.claims, &r.set.paths, &r.Note, &held, s.config.maxWaiters, &apart,
		&turn,
	}
	command := func(ctx context.Context) (reply, error) {
		for args, asks := args, len(args); ; {
			r.asked.Add(1)
			got, err := s.scripts.acquire.ask(ctx, s.runner, r.keys, args...)
			if err == nil && got.status == "searching" {
				args = append(args[:asks:asks], got.text(1))
				continue
			}
			if err != nil || !got.more() || got.status != "busy" {
				return got, err
			}
			// What keeps r out may be a lease that has ended, and that this portion did not come
			// to.
			if err := s.proceed(ctx, r.keys); err != nil {
				return reply{}, err
			}
		}
	}
	var got reply
	var err error
	decided, timeout := false, s.config.timeout
	if r.asked.Load() == 0 {
		turn = askedDirectly
		got, timeout, decided, err = direct(ctx, s, r.what, command, r)
		decided = decided && got.status != "withdrawn"
		turn = askedOnce
		if r.asked.Load() > 0 {
			// What may come late is not to be granted any more when the request has been asked for
			// again, and given back.
			turn = milliseconds(min(r.Lease, longestDelay) + s.config.timeout)
		}
	}
	if !decided {
		got, err = callFor(ctx, s, r.what, timeout, command, r)
	}
	if err == nil && got.more() {
		s.proceedLater(ctx, r.keys)
	}
	return got, err
}

// What ARGV 13 of the acquire script says where it is not a time.
const (
	askedOnce     = "0"
	askedDirectly = "1"
)

// errWithdrawn is why a request is refused that was taken back before: it was given up, or its
// answer was lost.
var errWithdrawn = errors.New("the request has been withdrawn")

// decided returns what a final answer of the acquire script means; asked is when the question left.
func (s *Store) decided(ctx context.Context, r *request, answer reply, asked time.Time) (pathlock.Grant, error) {
	switch answer.status {
	case "granted":
		return s.granted(ctx, r, answer.number(1), asked)
	case "busy":
		return pathlock.Grant{}, s.conflict(ctx, r, int(answer.number(1)), nil)
	case "full":
		return pathlock.Grant{}, s.conflict(ctx, r, int(answer.number(1)), ErrQueueFull)
	case "lost":
		return pathlock.Grant{}, fmt.Errorf("redisstore: %s: %w: owner %s holds nothing any more", r.what, pathlock.ErrLost, r.Owner.Short())
	case "withdrawn":
		return pathlock.Grant{}, unavailable(r.what, errWithdrawn)
	case "deadlock":
		return pathlock.Grant{}, s.deadlock(ctx, r, int(answer.number(1)), pathlock.Owner(answer.text(2)))
	default:
		return pathlock.Grant{}, unavailable(r.what, fmt.Errorf("unexpected reply %q", answer.status))
	}
}

// granted returns a grant, or gives it back if ctx has ended meanwhile, or the replicas have not
// got it.
func (s *Store) granted(ctx context.Context, r *request, fence uint64, asked time.Time) (pathlock.Grant, error) {
	if ctx.Err() != nil {
		s.undo(r)
		return pathlock.Grant{}, interrupted(ctx, r.what)
	}
	if err := s.replicate(ctx, r); err != nil {
		s.undo(r)
		return pathlock.Grant{}, err
	}
	return pathlock.Grant{Fence: fence, Asked: asked}, nil
}

// proceed lets the server do what scripts have left over, in portions.
func (s *Store) proceed(ctx context.Context, keys []string) error {
	for {
		more, err := s.scripts.proceed.run(ctx, s.runner, keys)
		if err != nil || more != "1" {
			return err
		}
	}
}

// proceedLater is proceed on nobody's time. If it fails, the next script that comes by goes on.
func (s *Store) proceedLater(ctx context.Context, keys []string) {
	s.background(ctx, func(ctx context.Context) { _ = s.proceed(ctx, keys) })
}
