package quorum

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// request is an acquisition under way.
type request struct {
	pathlock.Acquisition
	store *Store
	key   key
	// ctx ends with the caller's, and with the store.
	ctx    context.Context
	cancel context.CancelFunc
	stop   func() bool
	began  time.Time
	// told says that the caller knows that the request waits.
	told bool
	// without are the members where the owner holds nothing of what a majority has.
	without map[int]bool
	// confirmed says that a majority had it when the request began to wait.
	confirmed bool
	// among, where not nil, are the members that have granted the request before.
	among map[int]bool
	// failed is why members did not grant, by their indexes: for the error.
	failed map[int]error

	mu sync.Mutex
	// asks are the questions that have been granted or may be.
	asks []*ask
	// news is signalled when a question is answered, or queued.
	news chan struct{}
}

// asking is a request that one or more calls make at once.
type asking struct {
	calls   int
	granted bool
}

func (s *Store) newRequest(ctx context.Context, req pathlock.Acquisition) *request {
	req.Wait, req.Lease = min(req.Wait, pathlock.Forever), min(req.Lease, pathlock.Forever)
	r := &request{
		Acquisition: req, store: s, key: key{req.Tree, req.Owner, req.Grant}, began: time.Now(),
		without: make(map[int]bool), failed: make(map[int]error), news: make(chan struct{}, 1),
	}
	r.among = s.granted.members(r.key)
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.stop = context.AfterFunc(s.life, r.cancel)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking[r.key] == nil {
		s.asking[r.key] = new(asking)
	}
	s.asking[r.key].calls++
	return r
}

// end ends the request. What it has been granted is given back unless it, or another call that
// makes the same request, returns the grant.
func (r *request) end(granted bool) {
	s := r.store
	s.mu.Lock()
	same := s.asking[r.key]
	same.calls--
	same.granted = same.granted || granted
	giveBack := !same.granted && same.calls == 0
	if same.calls == 0 {
		delete(s.asking, r.key)
	}
	s.mu.Unlock()
	switch {
	case giveBack:
		s.granted.remove(r.key)
		r.giveBackAll()
	default:
		r.leaveUnanswered()
	}
	r.stop()
	r.cancel()
}

// isAlone reports whether no other call makes the same request.
func (r *request) isAlone() bool {
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	same := s.asking[r.key]
	return same == nil || same.calls <= 1
}

// note changes what is known of a question.
func (r *request) note(change func()) {
	r.mu.Lock()
	change()
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
}

func (r *request) debt() debt { return debt{r.Tree, r.Owner, r.Grant} }

func (r *request) operation() string { return "acquire in " + r.Tree.String() }

// announce tells the caller, once, that the request waits.
func (r *request) announce() {
	if !r.told && r.Wait > 0 {
		r.told = true
		if r.Waiting != nil {
			r.Waiting()
		}
	}
}

// remaining returns how much of the wait is left.
func (r *request) remaining() time.Duration { return max(0, r.Wait-time.Since(r.began)) }

// add asks a member, and counts on the answer.
func (r *request) add(m *member, wait time.Duration) *ask {
	a := r.ask(m, wait)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asks = append(r.asks, a)
	return a
}

// drop no longer counts on a question.
func (r *request) drop(a *ask) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.asks {
		if other == a {
			r.asks = append(r.asks[:i:i], r.asks[i+1:]...)
			return
		}
	}
}

// places returns what has been granted.
func (r *request) places() []place {
	r.mu.Lock()
	defer r.mu.Unlock()
	var granted []place
	for _, a := range r.asks {
		if a.over && a.err == nil {
			granted = append(granted, a.place())
		}
	}
	return granted
}

// available returns the members that serve, in their order. A request that is repeated is for those
// that have granted it: another would add its fence.
func (r *request) available() []*member {
	up := r.store.available()
	if r.among != nil {
		up = slices.DeleteFunc(up, func(m *member) bool { return !r.among[m.index] })
	}
	return up
}

// unasked returns the members that serve, and are neither asked at present nor have granted.
func (r *request) unasked() []*member {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := make(map[*member]bool)
	for _, a := range r.asks {
		asked[a.member] = true
	}
	var members []*member
	for _, m := range r.available() {
		if !asked[m] {
			members = append(members, m)
		}
	}
	return members
}

// giveBack gives up questions, gives back what they have brought, and returns when that is done.
// Members that do not answer are told later.
func (r *request) giveBack(asks ...*ask) {
	var told sync.WaitGroup
	for _, a := range asks {
		r.drop(a)
		switch {
		case !a.leave():
			r.store.running.Add(1)
			told.Go(func() {
				defer r.store.running.Done()
				a.letEnd()
			})
		case a.err == nil:
			r.store.running.Add(1)
			told.Go(func() {
				defer r.store.running.Done()
				a.member.giveBackOrOwe(r.debt(), r.Lease)
			})
		}
	}
	told.Wait()
}

// giveBackAll gives up everything.
func (r *request) giveBackAll() {
	r.mu.Lock()
	asks := r.asks
	r.asks = nil
	r.mu.Unlock()
	r.giveBack(asks...)
}

// leaveUnanswered gives up the questions that have not been answered.
func (r *request) leaveUnanswered() {
	r.mu.Lock()
	asks := r.asks
	r.mu.Unlock()
	for _, a := range asks {
		a.leave()
	}
}

// interrupted returns the error of a request whose context has ended, or whose store has.
func (r *request) interrupted() error {
	if r.store.life.Err() != nil {
		return errClosed
	}
	err, cause := r.ctx.Err(), context.Cause(r.ctx)
	if cause != nil && !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return fmt.Errorf("quorum: %s: %w", r.operation(), err)
}

// unavailable returns the error of a request that too few members answer.
func (r *request) unavailable() error {
	var failed []MemberError
	for _, m := range r.store.members {
		err := m.whySilent()
		if err == nil {
			err = r.failed[m.index]
		}
		if err != nil {
			failed = append(failed, MemberError{m.index, m.name, err})
		}
	}
	return r.store.unavailable(r.ctx, r.operation(), failed)
}

// conflict returns the error for what a member has refused, with the whole time of the wait.
func (r *request) conflict(err error) error {
	var conflict *pathlock.ConflictError
	if !errors.As(err, &conflict) {
		return fmt.Errorf("quorum: %w", err)
	}
	whole := *conflict
	whole.Waited = time.Since(r.began)
	if cause := r.ctx.Err(); errors.Is(cause, context.DeadlineExceeded) && !errors.Is(&whole, cause) {
		whole.Err = errors.Join(whole.Err, cause)
	}
	return &whole
}
