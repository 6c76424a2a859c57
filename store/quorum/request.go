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

// key names a request, and its grant. Without a grant it is all that an owner has.
type key struct {
	tree  pathlock.Tree
	owner pathlock.Owner
	grant pathlock.GrantID
}

// request is an acquisition under way.
type request struct {
	pathlock.Acquisition
	store *Store
	key   key
	// ctx ends with the caller's, and with the store.
	ctx    context.Context
	cancel context.CancelFunc
	began  time.Time
	// told says that the caller knows that the request waits.
	told bool
	// among, where not nil, are the members that have granted the request before.
	among []int
	// failed is why members did not grant, by their indexes: for the error.
	failed map[int]error

	mu sync.Mutex
	// asks are the questions that have been granted or may be.
	asks []*ask
	// news is signalled when a question is answered, or queued.
	news chan struct{}
}

// known is what is known of a request of this process. It is forgotten with the release, or when a
// lease has passed.
type known struct {
	calls int // that make the request at present
	// members have granted it, so that a call that repeats it gets the same fence.
	members []int
	until   time.Time
}

// fewKnown is how many requests are not worth a look for those that have ended.
const fewKnown = 256

func (s *Store) newRequest(ctx context.Context, req pathlock.Acquisition) *request {
	req.Wait, req.Lease = min(req.Wait, pathlock.Forever), min(req.Lease, pathlock.Forever)
	r := &request{
		Acquisition: req, store: s, key: key{req.Tree, req.Owner, req.Grant}, began: time.Now(),
		failed: make(map[int]error), news: make(chan struct{}, 1),
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	r.ctx, r.cancel = ctx, func() { stop(); cancel() }
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= s.sweep {
		for k, one := range s.known {
			if one.calls == 0 && r.began.After(one.until) {
				delete(s.known, k)
			}
		}
		s.sweep = max(fewKnown, 2*len(s.known))
	}
	one := s.known[r.key]
	if one == nil {
		one = new(known)
		s.known[r.key] = one
	}
	if one.calls++; r.began.After(one.until) {
		one.members = nil
	}
	r.among = one.members
	return r
}

// end ends the request, which those places have granted. Without them, what it has been granted is
// given back unless another call that makes the same request has it, or may get it.
func (r *request) end(granted []place) {
	s := r.store
	s.mu.Lock()
	one := s.known[r.key]
	one.calls--
	if granted != nil {
		one.members, one.until = nil, time.Now().Add(r.Lease)
		for _, p := range granted {
			one.members = append(one.members, p.member.index)
		}
	}
	giveBack := granted == nil && one.calls == 0 && (one.members == nil || r.among != nil)
	if giveBack || one.calls == 0 && one.members == nil {
		delete(s.known, r.key)
	}
	s.mu.Unlock()
	if giveBack {
		r.giveBackAll()
	}
	r.mu.Lock()
	asks := slices.Clone(r.asks)
	r.mu.Unlock()
	for _, a := range asks {
		if over, _ := a.outcome(); !over {
			a.leave()
		}
	}
	r.cancel()
}

// forget notes that a grant has been given back.
func (s *Store) forget(k key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.known[k]; one != nil && one.calls == 0 {
		delete(s.known, k)
	}
}

// isAlone reports whether no other call makes the same request, or has made it.
func (r *request) isAlone() bool {
	s := r.store
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.known[r.key]
	return one == nil || one.calls <= 1 && one.members == nil
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

// places returns what has been granted.
func (r *request) places() []place {
	r.mu.Lock()
	defer r.mu.Unlock()
	var granted []place
	for _, a := range r.asks {
		if a.over && a.err == nil {
			granted = append(granted, place{a.member, a.grant.Fence, a.grant.Asked, a.came})
		}
	}
	return granted
}

// tally sorts the questions by their answers. It no longer counts on those that were refused, nor
// on those to members that have fallen silent.
func (r *request) tally() (granted int, queued, pending []*ask) {
	var silent []*ask
	r.mu.Lock()
	r.asks = slices.DeleteFunc(slices.Clone(r.asks), func(a *ask) bool {
		why := a.member.whySilent()
		switch {
		case a.over && a.err != nil:
			r.failed[a.member.index] = a.err
			return true
		case a.over:
			granted++
			delete(r.failed, a.member.index)
		case why != nil:
			r.failed[a.member.index] = why
			silent = append(silent, a)
			return true
		case a.queued:
			queued = append(queued, a)
		default:
			pending = append(pending, a)
		}
		return false
	})
	r.mu.Unlock()
	for _, a := range silent {
		a.leave()
	}
	return granted, queued, pending
}

// available returns the members that serve, in their order. A request that is repeated is for those
// that have granted it: another would add its fence.
func (r *request) available() []*member {
	return slices.DeleteFunc(r.store.available(), func(m *member) bool { return r.among != nil && !slices.Contains(r.among, m.index) })
}

// unasked returns the members that serve, and are neither asked at present nor have granted.
func (r *request) unasked() []*member {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(r.available(), func(m *member) bool {
		return slices.ContainsFunc(r.asks, func(a *ask) bool { return a.member == m })
	})
}

// giveBack gives up questions, gives back what they have brought, and returns when that is done.
// Members that do not answer are told later.
func (r *request) giveBack(asks ...*ask) {
	r.mu.Lock()
	r.asks = slices.DeleteFunc(slices.Clone(r.asks), func(a *ask) bool { return slices.Contains(asks, a) })
	r.mu.Unlock()
	for _, a := range asks {
		a.leave()
	}
	patience := time.NewTimer(r.store.config.timeout)
	defer patience.Stop()
	for _, a := range asks {
		select {
		case <-a.ended:
		case <-a.member.lost():
		case <-patience.C:
			a.member.silence(errTimeout)
			return
		case <-r.store.life.Done():
			return
		}
	}
}

// giveBackAll gives up everything.
func (r *request) giveBackAll() { r.giveBackOthers(nil) }

// giveBackOthers gives up all questions but one.
func (r *request) giveBackOthers(but *ask) {
	r.mu.Lock()
	others := slices.DeleteFunc(slices.Clone(r.asks), func(a *ask) bool { return a == but })
	r.mu.Unlock()
	r.giveBack(others...)
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

// lost returns the error of an owner that has lost what it builds on.
func (r *request) lost() error {
	return fmt.Errorf("quorum: %s: %w: owner %s holds nothing any more", r.operation(), pathlock.ErrLost, r.Owner.Short())
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
