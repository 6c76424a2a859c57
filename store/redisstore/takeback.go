package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// longestDelay is how late a command that was left behind may come to a server that answers others:
// operating systems give up sooner what a closed connection has not delivered.
const longestDelay = 2 * time.Minute

const (
	// firstTakeBackPause and longestTakeBackPause are the first and the longest pause between two
	// tries to take something back from a server that does not answer. What such a server has
	// before itself, it grants when it goes on: so it is asked often.
	firstTakeBackPause   = 50 * time.Millisecond
	longestTakeBackPause = time.Second
)

// takeBack is a request that nobody waits for any more, and that the server may have granted or
// queued all the same. It is withdrawn, again and again, until the server answers, however long
// that takes: the lease of a request that a server has before itself begins when the server goes
// on. One answer is enough: a request that was withdrawn is granted nothing, even if it reaches the
// server later. If the answer is an error, the end of the lease is enough.
type takeBack struct {
	request *request
	// lost is set if the request may still be on its way: it was not answered, or was sent more
	// than once.
	lost bool
	// settled is set when nothing can come of the request any more.
	settled bool
	// stop is cancelled when the request is made again, and ended is closed at the end.
	stopped context.Context
	stop    context.CancelFunc
	ended   chan struct{}
}

// takeBack takes a request back in the background when its last command has ended, as outcome waits
// for and reports. A request that was never sent, by this call or an earlier one, is not taken
// back. So there are no more of them than the connections could carry that there were when the
// server fell silent. It is called during a command, so that wait waits for what begins here.
func (c *caller) takeBack(r *request, outcome func() error) *takeBack {
	if r == nil {
		return nil
	}
	t := &takeBack{request: r, ended: make(chan struct{})}
	t.stopped, t.stop = context.WithCancel(context.Background())
	c.mu.Lock()
	earlier := c.takeBacks[keyOf(r.Acquisition)]
	c.takeBacks[keyOf(r.Acquisition)] = t
	c.mu.Unlock()
	c.commands.Go(func() {
		defer c.endTakeBack(t)
		if earlier != nil {
			earlier.stop()
			<-earlier.ended
			t.lost = earlier.lost
		}
		err := outcome()
		t.lost = t.lost || r.repeated || !answered(err) || r.writes() > r.asked.Load()
		sent := r.writes() > 0 || r.repeated || earlier != nil
		t.settled = !sent || c.keepWithdrawing(t)
	})
	return t
}

// endTakeBack forgets t.
func (c *caller) endTakeBack(t *takeBack) {
	t.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.takeBacks[keyOf(t.request.Acquisition)] == t {
		delete(c.takeBacks, keyOf(t.request.Acquisition))
	}
	close(t.ended)
}

// keepWithdrawing withdraws t's request until the server answers. After close, there is one more
// try; the rest is left to the lease. It reports whether nothing can come of the request any more,
// which is not so where it is made again before that.
func (c *caller) keepWithdrawing(t *takeBack) bool {
	until := time.Now().Add(t.request.Lease + c.timeout)
	var remember time.Duration
	if t.lost {
		remember = longestDelay
	}
	// No other process asks for the same, so there is no jitter.
	pauses := backoff.ExponentialBackOff{InitialInterval: firstTakeBackPause, MaxInterval: longestTakeBackPause, Multiplier: 2}
	for t.stopped.Err() == nil {
		last := c.closing.Err() != nil
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		err := c.withdraw(ctx, keyOf(t.request.Acquisition), remember)
		cancel()
		if err == nil || last || answered(err) && !time.Now().Before(until) {
			return true
		}
		timer := time.NewTimer(pauses.NextBackOff())
		select {
		case <-timer.C:
		case <-c.closing.Done():
		case <-t.stopped.Done():
		}
		timer.Stop()
	}
	return false
}

// forget is for a request that is made again: from now on somebody waits for it. forget waits until
// no command about the request is under way. If that is not so before ctx ends, or within a time,
// it returns an error, and the request is taken back all the same.
func (c *caller) forget(ctx context.Context, r *request, within time.Duration) error {
	c.mu.Lock()
	t := c.takeBacks[keyOf(r.Acquisition)]
	c.mu.Unlock()
	if t == nil {
		return nil
	}
	t.stop()
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-t.ended:
		r.repeated = r.repeated || !t.settled
		return nil
	case <-ctx.Done():
	case <-timer.C:
	}
	err := cmp.Or(ctx.Err(), fmt.Errorf("an earlier try has not ended within %v", within))
	c.takeBack(t.request, func() error { return err })
	return err
}

// undo takes a request back that nobody waits for any more, while a command of the store is under
// way. As a rule that is done when undo returns. It returns when ctx has ended at the latest: a
// server that takes its time is left to do it, and one that does not answer is asked again, in the
// background.
func (c *caller) undo(ctx context.Context, r *request) {
	t := c.takeBack(r, func() error { return nil })
	select {
	case <-t.ended:
	case <-ctx.Done():
	}
}
