package calls

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/redisstore/internal/lua"
)

// Key identifies a request. Two callers may make the same one at once.
type Key struct {
	Tree  pathlock.Tree
	Owner pathlock.Owner
	Grant pathlock.GrantID
}

// Request is what commands ask the server to grant.
type Request struct {
	Key
	Lease time.Duration
	// Sent is the owner as scripts get it, and tells how often the request was sent.
	Sent lua.Counted
	// Asked counts how often its script was called.
	Asked atomic.Int32
}

// NewRequest returns a request that has not been sent.
func NewRequest(k Key, lease time.Duration) *Request {
	return &Request{Key: k, Lease: lease, Sent: lua.Counted{Value: string(k.Owner)}}
}

// flight is one command about a request, which its caller may leave behind.
type flight struct {
	request *Request
	// left is set when the caller has gone before the command has ended, and over when that has.
	left, over bool
	landed     chan struct{}
	// before is how often the request had been sent before.
	before int32
}

// newFlight returns the flight of a command that is about to be sent. One about no request leaves
// nothing to take back.
func newFlight(r *Request) *flight {
	f := &flight{request: r}
	if r != nil {
		f.before = r.Sent.Writes()
	}
	return f
}

// Forget is for a request that is made again: from now on somebody waits for it. Forget waits until
// no command about the request is under way. If that is not so before ctx ends, or within a time,
// it returns an error, and the request is taken back all the same.
func (c *Caller) Forget(ctx context.Context, r *Request, within time.Duration) error {
	t := &c.takeBacks
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		t.mu.Lock()
		b := t.pending[r.Key]
		if b == nil || b.busy == nil {
			delete(t.pending, r.Key)
			t.mu.Unlock()
			return nil
		}
		busy := b.busy
		t.mu.Unlock()
		select {
		case <-busy:
		case <-bounded.Done():
			return cmp.Or(ctx.Err(), fmt.Errorf("an earlier try has not ended within %v", within))
		}
	}
}

// Undo takes a request back that nobody waits for any more, while a command of the store is under
// way. As a rule that is done when Undo returns. It returns when ctx has ended at the latest: a
// server that takes its time is left to do it, and one that does not answer is asked again, in the
// background.
func (c *Caller) Undo(ctx context.Context, r *Request) {
	f, done := &flight{request: r}, make(chan struct{})
	c.takeBacks.leave(f)
	c.commands.Go(func() {
		defer close(done)
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.config.Timeout)
		defer cancel()
		if err := c.config.Withdraw(bounded, r.Key, 0); err != nil {
			c.takeBacks.add(f, err)
			return
		}
		c.takeBacks.settle(f)
	})
	select {
	case <-done:
	case <-ctx.Done():
	}
}
