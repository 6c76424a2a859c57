package quorum

import (
	"context"
	"fmt"
	"sync"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/ended"
)

// mostMembers is how many members there can be: fences have room for the numbers of so many.
const mostMembers = 1<<fenceBits - 1

// Store is a [pathlock.Store] whose locks are held by a majority of other stores. Make one
// per process with [New], and [Store.Close] it in the end.
type Store struct {
	config   config
	members  []*member
	majority int

	// life ends with Close. running are the calls and whatever they have left in the background.
	life    context.Context
	end     context.CancelFunc
	mu      sync.Mutex // is locked where life ends, and where a call begins
	running sync.WaitGroup
	// granted are the grants of this process whose leases have not passed.
	granted map[key]*granted
}

var _ pathlock.Store = (*Store)(nil)

// New returns a store over an odd number of others, at most fifteen. The members must be
// independent: what fails one of them must not fail another. Every process lists the same members
// in the same order. They remain the caller's, who closes them after [Store.Close].
//
// New connects to nothing. The error matches [ErrMembers] if the number is even, or a member is
// nil.
func New(stores []pathlock.Store, opts ...Option) (*Store, error) {
	if n := len(stores); n%2 == 0 || n > mostMembers {
		return nil, fmt.Errorf("%w: there are %d, want an odd number up to %d", ErrMembers, n, mostMembers)
	}
	config := config{timeout: DefaultTimeout}
	for _, opt := range opts {
		opt(&config)
	}
	s := &Store{config: config, majority: len(stores)/2 + 1, granted: make(map[key]*granted)}
	for i, store := range stores {
		if store == nil {
			return nil, fmt.Errorf("%w: %s is nil", ErrMembers, config.name(i))
		}
		s.members = append(s.members, newMember(s, i, store))
	}
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// begin notes a call that is under way. The error matches [pathlock.ErrClosed] after Close.
func (s *Store) begin() error {
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
func (s *Store) Close(ctx context.Context) error {
	s.mu.Lock()
	s.end()
	s.mu.Unlock()
	return ended.Within(ctx, func() error {
		s.running.Wait()
		return nil
	})
}

// Local implements [pathlock.Store].
func (s *Store) Local() bool { return false }

// Ping implements [pathlock.Store]. It succeeds if a majority serves.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.running.Done()
	answers := poll(ctx, s, "ping", func(ctx context.Context, m *member) (struct{}, error) { return struct{}{}, m.store.Ping(ctx) })
	if answers.count(isDone) >= s.majority {
		return nil
	}
	return answers.unavailable(ctx)
}
