package calls

import (
	"context"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// GracePeriod is how long a call may take in all, after its context has ended or it has its answer,
// to leave everything in order and say what was in the way.
const GracePeriod = 500 * time.Millisecond

// Config is what a [Caller] needs. All fields but Refusal are required.
type Config struct {
	// Timeout is how long a command may take.
	Timeout time.Duration
	// Refusal is why no command may begin; nil if commands may.
	Refusal error
	// Unanswered is called in the background when a server has not answered a command. It ends in
	// time by itself.
	Unanswered func(context.Context)
	// Withdraw takes a request back. Where the request may still be on its way to the server, the
	// server is to grant it nothing for the time remember.
	Withdraw func(ctx context.Context, k Key, remember time.Duration) error
}

// Caller runs commands for a store.
type Caller struct {
	config Config
	// closing is closed by Close: nobody waits from then on.
	closing chan struct{}
	// commands counts what is under way. None begins after Close has begun to wait for them.
	commands sync.WaitGroup

	mu     sync.Mutex
	closed bool
	// takeBacks are the requests that are being taken back.
	takeBacks map[Key]*takeBack
}

// New returns a caller for a store.
func New(c Config) *Caller {
	return &Caller{config: c, closing: make(chan struct{}), takeBacks: make(map[Key]*takeBack)}
}

// Begin reports why no command may begin. Where it returns nil, [Caller.End] has to follow.
func (c *Caller) Begin() error {
	if c.config.Refusal != nil {
		return c.config.Refusal
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return pathlock.ErrClosed
	}
	c.commands.Add(1)
	return nil
}

// End ends what [Caller.Begin] has begun.
func (c *Caller) End() { c.commands.Done() }

// Close lets no command begin from now on and ends the waits, which watch [Caller.Closing]. It
// reports whether it is the first call of Close.
func (c *Caller) Close() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.closed = true
	close(c.closing)
	return true
}

// Closing is closed by [Caller.Close].
func (c *Caller) Closing() <-chan struct{} { return c.closing }

// Wait returns when all commands have ended and nothing is being taken back, after [Caller.Close].
func (c *Caller) Wait() { c.commands.Wait() }

// isClosing reports whether Close has been called.
func (c *Caller) isClosing() bool {
	select {
	case <-c.closing:
		return true
	default:
		return false
	}
}
