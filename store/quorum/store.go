package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// ErrMembers says that [New] was not given an odd number of stores that can serve.
var ErrMembers = errors.New("quorum: not an odd number of stores")

// errClosed is how calls end on a store that has been closed.
var errClosed = fmt.Errorf("quorum: %w: %w", pathlock.ErrUnavailable, pathlock.ErrClosed)

// mostMembers is how many members there can be: fences have room for that many numbers.
const mostMembers = 1<<fenceBits - 1

// store is a [pathlock.Store] whose locks are held by a majority of other stores.
type store struct {
	config   config
	members  []*member
	majority int

	// life ends with Close. running are the calls and whatever they have left in the background.
	life    context.Context
	end     context.CancelFunc
	mu      sync.Mutex // is locked where life ends, and where a call begins
	running sync.WaitGroup
}

var _ pathlock.Store = (*store)(nil)

// New returns a store over an odd number of others, at most fifteen. Make one per process, and
// close it at the end. The members must be independent: what fails one of them must not fail
// another. Every process lists the same members in the same order. They remain the caller's, who
// closes them after the store.
//
// New connects to nothing. The error matches [ErrMembers] if the number is even, or a member is
// nil.
func New(stores []pathlock.Store, opts ...Option) (pathlock.Store, error) {
	if n := len(stores); n%2 == 0 || n > mostMembers {
		return nil, fmt.Errorf("%w: there are %d, want an odd number up to %d", ErrMembers, n, mostMembers)
	}
	config := config{timeout: defaultTimeout}
	for _, opt := range opts {
		opt(&config)
	}
	s := &store{config: config, majority: len(stores)/2 + 1}
	for i, store := range stores {
		if store == nil {
			return nil, fmt.Errorf("%w: %s is nil", ErrMembers, config.name(i))
		}
		s.members = append(s.members, newMember(s, i, store))
	}
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

const defaultTimeout = 500 * time.Millisecond

// Option is a setting of [New].
type Option func(*config)

type config struct {
	timeout time.Duration
	names   []string
}

// name returns what errors call a member.
func (c *config) name(i int) string {
	if i < len(c.names) && c.names[i] != "" {
		return c.names[i]
	}
	return "member " + strconv.Itoa(i+1)
}

// WithTimeout sets how long a member has to answer a question. One that does not is silent: it is
// asked in the background alone until it answers. A request that a majority has granted waits for
// the other members for a tenth of this time, and does without those that take longer. A call ends
// at the latest its wait plus the time-outs of all members after it began. Values that are not
// positive are ignored. Defaults to half a second.
func WithTimeout(d time.Duration) Option {
	return func(c *config) { c.timeout = cmp.Or(max(d, 0), c.timeout) }
}

// WithNames sets what errors call the members, in their order. Without it they are "member 1" and
// so on.
func WithNames(names ...string) Option {
	return func(c *config) { c.names = names }
}

// begin notes a call that is under way. The error matches [pathlock.ErrClosed] after Close.
func (s *store) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.life.Err() != nil {
		return errClosed
	}
	s.running.Add(1)
	return nil
}

// Close releases no locks: that is up to their holders, and their leases. It ends the calls that
// are under way, with errors that match [pathlock.ErrClosed], and returns when nothing runs in the
// background. If ctx ends first, the error matches ctx's. Close may be called again.
func (s *store) Close(ctx context.Context) error {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	over := make(chan struct{})
	go func() {
		s.running.Wait()
		close(over)
	}()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("quorum: closing the store: %w", ctx.Err())
	}
}

// Local implements [pathlock.Store].
func (s *store) Local() bool { return false }

// Ping implements [pathlock.Store]. It succeeds if a majority serves.
func (s *store) Ping(ctx context.Context) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.running.Done()
	answers := poll(ctx, s, "ping", func(ctx context.Context, m *member) (struct{}, error) { return struct{}{}, m.store.Ping(ctx) })
	if answers.count(nil) >= s.majority {
		return nil
	}
	return answers.unavailable(ctx)
}
