package redisstore

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// longestDelay bounds how late an abandoned command may still reach a server that answers others.
// Operating systems give up earlier on what a closed connection has not delivered.
const longestDelay = 2 * time.Minute

// takeBack takes a request back that nobody waits for any more, but that the server may have
// granted or queued. outcome waits for the request's last command, and returns that command's
// error.
//
// In the background, the request is withdrawn again and again until the server answers, however
// long that takes: a stalled server begins the lease of a request that it has received only when it
// goes on. One answer is enough: a withdrawn request is granted nothing, even if it reaches the
// server later. If all answers are errors, the tries end with the lease.
//
// A request that was not sent is not taken back. So there are no more take-backs than commands that
// the connections carried when the server fell silent. takeBack is called during a command, so that
// whoever waits for the commands also waits for the work that begins here.
func (c *caller) takeBack(r *request, outcome func() error) {
	if r == nil {
		return
	}
	key := keyOf(r.Acquisition)
	tried := c.takeBacks.Begin(key)
	c.commands.Go(func() {
		defer tried()
		err := outcome()
		if r.writes() == 0 {
			return
		}
		var remember time.Duration
		if !answered(err) || r.writes() > r.asked.Load() { // it may still be on its way
			remember = longestDelay
		}
		until := time.Now().Add(r.Lease + c.timeout)
		withdraw := func() (over bool) {
			ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
			defer cancel()
			err := c.withdraw(ctx, key, remember)
			return err == nil || answered(err) && !time.Now().Before(until)
		}
		if !withdraw() {
			c.takeBacks.Retry(key, withdraw)
		}
	})
}

// settle waits until the request is not being taken back, so that it can be made again. It returns
// an error if that takes longer than ctx or within allows.
func (c *caller) settle(ctx context.Context, r *request, within time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if c.takeBacks.Await(bounded, keyOf(r.Acquisition)) == 0 {
		return nil
	}
	return cmp.Or(ctx.Err(), fmt.Errorf("an earlier try has not ended within %v", within))
}

// undo takes back a request that nobody waits for any more, while a command of the store is under
// way. Usually that is done when undo returns. If ctx ends first, it goes on in the background.
func (c *caller) undo(ctx context.Context, r *request) {
	c.takeBack(r, func() error { return nil })
	_ = c.takeBacks.Await(ctx, keyOf(r.Acquisition))
}
