package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// longestDelay bounds how late an abandoned command may still reach a server that answers others.
// Operating systems give up earlier on what a closed connection has not delivered.
const longestDelay = 2 * time.Minute

const (
	// firstTakeBackPause and longestTakeBackPause are the first and the longest pause between two
	// tries to take something back from a server that does not answer. It is asked often, because
	// it grants what it has received as soon as it goes on.
	firstTakeBackPause   = 50 * time.Millisecond
	longestTakeBackPause = time.Second
)

// takeBack is a request that nobody waits for any more, but that the server may have granted or
// queued. It is withdrawn again and again until the server answers, however long that takes: a
// stalled server begins the lease of a request that it has received only when it goes on. One
// answer is enough: a withdrawn request is granted nothing, even if it reaches the server later. If
// all answers are errors, the tries end with the lease.
type takeBack struct {
	request *request
	// lost is set if the request may still be on its way: it was not answered, or was sent more
	// than once.
	lost bool
	// settled is set when nothing can come of the request any more.
	settled bool
	// stop cancels stopped when the request is made again. ended is closed at the end.
	stopped context.Context
	stop    context.CancelFunc
	ended   chan struct{}
}

// takeBack takes a request back in the background. outcome waits for its last command, and returns
// that command's error. A request that neither this call nor an earlier one has sent is not taken
// back. So there are no more take-backs than commands that the connections carried when the server
// fell silent. takeBack is called during a command, so that whoever waits for the commands waits
// for what begins here, too.
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

// keepWithdrawing withdraws t's request until the server answers. After close, it tries once more,
// and leaves the rest to the lease. It reports whether nothing can come of the request any more:
// false if the request was made again first.
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

// stopTakeBack stops taking back a request that is made again: from now on somebody waits for it.
// It waits until no command about the request is under way. If that takes longer than ctx or within
// allows, it returns an error, and the request is taken back after all.
func (c *caller) stopTakeBack(ctx context.Context, r *request, within time.Duration) error {
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

// undo takes back a request that nobody waits for any more, while a command of the store is under
// way. Usually that is done when undo returns. If ctx ends first, it goes on in the background.
func (c *caller) undo(ctx context.Context, r *request) {
	t := c.takeBack(r, func() error { return nil })
	select {
	case <-t.ended:
	case <-ctx.Done():
	}
}
