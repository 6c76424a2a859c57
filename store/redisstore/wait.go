package redisstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/pathlock-go/pathlock"
)

// heartbeats is how often in the time of a lease a waiter says that it is still there. Its place in
// the queue lasts for one lease.
const heartbeats = 3

// wait asks for r and waits until w hears of the grant, r.Wait is over or ctx ends. It
// asks again when the server said that somebody's lease may have ended by then, when
// messages may have been missed, and often enough to keep its place.
func (s *Store) wait(ctx context.Context, r *request, w *waiter) (pathlock.Grant, error) {
	if err := s.decide(ctx, r.what); err != nil {
		return pathlock.Grant{}, err
	}
	s.listener.route(w)
	deadline := r.began.Add(r.Wait)
	// asked is when the last question left that was answered by a place in the queue, and place its
	// number.
	var asked time.Time
	var place uint64
	for queued, told, late := false, false, 0; ; {
		now := time.Now()
		remaining := deadline.Sub(now)
		if remaining <= 0 {
			return s.giveUp(ctx, r, w)
		}
		ref, number := s.listener.question(w)
		answer, err := s.ask(ctx, r, ref, remaining)
		// A server that is full keeps the place as long as it was to last, and may have room again
		// by then.
		full := queued && redis.IsOOMError(err)
		if err != nil && !full {
			return s.unanswered(ctx, r, w, queued, err)
		}
		next := r.Lease / heartbeats
		if !full {
			if answer.status == "granted" && r.ended(now) {
				if late++; late > mostLate {
					return pathlock.Grant{}, s.tooLate(r)
				}
				continue
			}
			if answer.status != "queued" {
				return s.decided(ctx, r, answer, now)
			}
			asked, place = now, number
			w.claim = int(answer.number(1))
			next = min(next, time.Duration(answer.number(2))*time.Millisecond)
		}
		// Until the subscription is there, messages are missed, and the request will be made again:
		// only then does it wait in earnest.
		if listening := s.listener.listen(w); (listening || queued) && !told {
			told = true
			if r.Waiting != nil {
				r.Waiting()
			}
		}
		queued = true
		timer := time.NewTimer(min(next, time.Until(deadline)))
		select {
		case <-timer.C:
		case <-w.again:
			timer.Stop()
		case heard := <-w.heard:
			timer.Stop()
			if heard.isOutdated(place) || heard.kind == "granted" && r.ended(asked) {
				continue // the process may have stood still for a lease: who knows who holds it meanwhile
			}
			return s.heard(ctx, r, heard, asked)
		case <-ctx.Done():
			timer.Stop()
			return s.giveUp(ctx, r, w)
		case <-s.closing:
			timer.Stop()
			s.undo(r)
			return pathlock.Grant{}, unavailable(r.what, pathlock.ErrClosed)
		}
	}
}

// unanswered ends a wait because a question failed. What has a place in the queue gives it up.
func (s *Store) unanswered(ctx context.Context, r *request, w *waiter, queued bool, err error) (pathlock.Grant, error) {
	switch {
	case !queued:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return s.giveUp(ctx, r, w)
	case errors.Is(err, pathlock.ErrClosed):
		s.undo(r)
	case ctx.Err() != nil:
		// The question was left behind on its way. When it has ended, its place is given up.
		over, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		if s.takeBacks.forget(over, r) == nil {
			s.undo(r)
		}
	}
	return pathlock.Grant{}, err
}

// removed is the kind of the message that a request's place was taken away by force.
const removed = "removed"

// isOutdated reports whether a message is about an earlier place in the queue than the one that a
// question with that number has got: what was granted then has ended since. Force is meant for
// every place.
func (m message) isOutdated(place uint64) bool { return m.question < place && m.kind != removed }

// heard returns what a message to the waiter means; asked is as in [pathlock.Grant].
func (s *Store) heard(ctx context.Context, r *request, m message, asked time.Time) (pathlock.Grant, error) {
	switch m.kind {
	case "granted":
		return s.granted(ctx, r, m.number, asked)
	case "deadlock":
		return pathlock.Grant{}, s.deadlock(ctx, r, int(m.number), m.owner)
	default:
		// The request may have taken a new place while the message was on its way.
		s.undo(r)
		return pathlock.Grant{}, fmt.Errorf("redisstore: %s: %w: the place in the queue was taken away", r.what, pathlock.ErrLost)
	}
}

// giveUp ends a wait. If the request was granted at the last moment and can still be used,
// that is the answer.
func (s *Store) giveUp(ctx context.Context, r *request, w *waiter) (pathlock.Grant, error) {
	over := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		over, cancel = context.WithTimeout(over, farewell)
		defer cancel()
	}
	if !errors.Is(ctx.Err(), context.Canceled) && s.listener.alone(w) {
		// Asking once more without waiting leaves the queue, and says what was in the way.
		if err := s.takeBacks.forget(over, r); err != nil {
			return pathlock.Grant{}, s.failed(over, r.what, err)
		}
		asked := time.Now()
		answer, err := s.ask(over, r, w.ref, 0)
		switch {
		case err != nil:
			return pathlock.Grant{}, err
		case answer.status == "granted" && ctx.Err() != nil:
			s.undo(r)
		case answer.status == "busy":
			w.claim = int(answer.number(1))
		default:
			return s.decided(ctx, r, answer, asked)
		}
		return pathlock.Grant{}, s.conflict(ctx, r, w.claim, nil)
	}
	if s.listener.alone(w) {
		s.undo(r)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return pathlock.Grant{}, interrupted(ctx, r.what)
	}
	return pathlock.Grant{}, s.conflict(ctx, r, w.claim, nil)
}
