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

// wait asks for r and waits until w hears of the grant, r.Wait is over or ctx ends. It asks again
// when a lease that the server told it of may have ended, when messages may have been missed, and
// often enough to keep its place.
func (s *store) wait(ctx context.Context, r *request, w *waiter) (pathlock.Grant, error) {
	deadline := r.began.Add(r.Wait)
	// asked is when the last question that got a place in the queue as its answer left, and place
	// is the question's number.
	var asked time.Time
	var place uint64
	for queued, told := false, false; ; {
		now := time.Now()
		remaining := deadline.Sub(now)
		if remaining <= 0 {
			return s.giveUp(ctx, r)
		}
		ref, number := w.question()
		answer, err := s.ask(ctx, r, ref, remaining)
		// A server that is full keeps the place for its lease, and may have room again by then.
		full := queued && redis.IsOOMError(err)
		if err != nil && !full {
			return s.unanswered(ctx, r, queued, err)
		}
		next := r.Lease / heartbeats
		if !full {
			if answer.status != statusQueued {
				return s.decided(ctx, r, answer, now)
			}
			asked, place = now, number
			r.inTheWay = int(answer.number(0))
			next = min(next, time.Duration(answer.number(1))*time.Millisecond)
		}
		// Until the subscription is established, messages are missed and the request is made again:
		// only then does it really wait.
		if listening := s.listener.listen(); (listening || queued) && !told {
			told = true
			if r.Waiting != nil {
				r.Waiting()
			}
		}
		queued = true
		timer := time.NewTimer(min(next, time.Until(deadline)))
		select {
		case <-timer.C:
		case heard := <-w.heard:
			timer.Stop()
			if heard.kind != messageAgain && !heard.isOutdated(place) {
				return s.heard(ctx, r, heard, asked)
			}
		case <-ctx.Done():
			timer.Stop()
			return s.giveUp(ctx, r)
		case <-s.calls.closing.Done():
			timer.Stop()
			s.calls.undo(r.grace(ctx), r)
			return pathlock.Grant{}, unavailable(r.what, pathlock.ErrClosed)
		}
	}
}

// unanswered ends a wait because a question failed, and gives up the place in the queue.
func (s *store) unanswered(ctx context.Context, r *request, queued bool, err error) (pathlock.Grant, error) {
	switch {
	case !queued:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return s.giveUp(ctx, r)
	case ctx.Err() != nil || errors.Is(err, pathlock.ErrClosed):
		s.calls.undo(r.grace(ctx), r) // the question may not have been sent
	}
	return pathlock.Grant{}, err
}

// heard returns what a message to the waiter means; asked is as in [pathlock.Grant].
func (s *store) heard(ctx context.Context, r *request, m message, asked time.Time) (pathlock.Grant, error) {
	switch m.kind {
	case messageGranted:
		return s.granted(ctx, r, m.number, asked)
	case messageDeadlock:
		return pathlock.Grant{}, s.deadlock(ctx, r, int(m.number), m.owner)
	case messageRemoved:
		// The request may have taken a new place while the message was on its way.
		s.calls.undo(r.grace(ctx), r)
		return pathlock.Grant{}, fmt.Errorf("redisstore: %s: %w: the place in the queue was taken away", r.what, pathlock.ErrLost)
	default:
		s.calls.undo(r.grace(ctx), r)
		return pathlock.Grant{}, unavailable(r.what, fmt.Errorf("unexpected message %q", m.kind))
	}
}

// giveUp ends a wait. If the request was granted at the last moment and the grant can still be
// used, that is the answer.
func (s *store) giveUp(ctx context.Context, r *request) (pathlock.Grant, error) {
	over := context.WithoutCancel(ctx)
	if ctx.Err() != nil {
		over = r.grace(ctx)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		s.calls.undo(over, r)
		return pathlock.Grant{}, interrupted(ctx, r.what)
	}
	// Asking once more without waiting leaves the queue, and says what was in the way.
	if err := s.calls.settle(over, r, s.left(r)); err != nil {
		return pathlock.Grant{}, s.calls.failed(over, r.what, err)
	}
	asked := time.Now()
	answer, err := s.ask(over, r, "", 0)
	switch {
	case err != nil:
		return pathlock.Grant{}, err
	case answer.status == statusGranted && ctx.Err() != nil:
		s.calls.undo(over, r)
	case answer.status == statusBusy:
		r.inTheWay = int(answer.number(0))
	case answer.status == statusWithdrawn: // with a question that was not answered
	default:
		return s.decided(ctx, r, answer, asked)
	}
	return pathlock.Grant{}, s.conflict(ctx, r, r.inTheWay, nil)
}
