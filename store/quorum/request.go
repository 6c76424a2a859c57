package quorum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/store/internal/ended"
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
	// failed is why members did not grant, by their indexes.
	failed map[int]error

	mu sync.Mutex
	// asks are the questions that have been granted or may be.
	asks []*ask
	// news is signalled when a question is answered, or queued.
	news chan struct{}
}

func (s *Store) newRequest(ctx context.Context, req pathlock.Acquisition) *request {
	req.Wait, req.Lease = min(req.Wait, pathlock.Forever), min(req.Lease, pathlock.Forever)
	r := &request{
		Acquisition: req, store: s, key: key{req.Tree, req.Owner, req.Grant}, began: time.Now(),
		failed: make(map[int]error), news: make(chan struct{}, 1),
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	r.ctx, r.cancel = ctx, func() { stop(); cancel() }
	r.among = s.whoGranted(r.key)
	return r
}

// end ends the request, which those answers have granted. Without them, what it has been granted is
// given back.
func (r *request) end(granted []*ask) {
	defer r.cancel()
	if granted == nil {
		r.store.forget(r.key)
		r.giveBackAllBut(nil)
		return
	}
	members := make([]int, 0, len(granted))
	for _, a := range granted {
		members = append(members, a.member.index)
	}
	r.store.remember(r.key, members, r.Lease)
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

// tally sorts the questions by their answers. It no longer counts on those that were refused, nor
// on those to members that have fallen silent.
func (r *request) tally() (granted, queued, pending []*ask) {
	var silent []*ask
	r.mu.Lock()
	for _, a := range r.asks {
		why := a.member.whySilent()
		switch {
		case a.over && a.err == nil:
			granted = append(granted, a)
			delete(r.failed, a.member.index)
		case a.over:
			r.failed[a.member.index] = a.err
		case why != nil:
			silent = append(silent, a)
			r.failed[a.member.index] = why
		case a.queued:
			queued = append(queued, a)
		default:
			pending = append(pending, a)
		}
	}
	r.asks = slices.Concat(granted, queued, pending)
	r.mu.Unlock()
	r.leave(silent)
	return granted, queued, pending
}

// available returns the members that serve, in their order. A request that is repeated is for those
// that have granted it: another would add its fence.
func (r *request) available() []*member {
	return slices.DeleteFunc(slices.Clone(r.store.members), func(m *member) bool {
		return m.whySilent() != nil || r.among != nil && !slices.Contains(r.among, m.index)
	})
}

// unasked returns the members that serve, and are neither asked at present nor have granted.
func (r *request) unasked() []*member {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(r.available(), func(m *member) bool {
		return slices.ContainsFunc(r.asks, func(a *ask) bool { return a.member == m })
	})
}

// leave has the request count on some questions no longer. What they bring is given back.
func (r *request) leave(asks []*ask) {
	r.mu.Lock()
	r.asks = slices.DeleteFunc(slices.Clone(r.asks), func(a *ask) bool { return slices.Contains(asks, a) })
	r.mu.Unlock()
	for _, a := range asks {
		a.leave()
	}
}

// giveBack gives up questions, gives back what they have brought, and returns when that is done.
// Members that do not answer are told later.
func (r *request) giveBack(asks []*ask) {
	r.leave(asks)
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

// giveBackAllBut gives up all questions but one, if that is not nil.
func (r *request) giveBackAllBut(one *ask) {
	r.mu.Lock()
	others := slices.DeleteFunc(slices.Clone(r.asks), func(a *ask) bool { return a == one })
	r.mu.Unlock()
	r.giveBack(others)
}

// interrupted returns the error of a request whose context has ended, or whose store has.
func (r *request) interrupted() error {
	if r.store.life.Err() != nil {
		return errClosed
	}
	return fmt.Errorf("quorum: %s: %w", r.operation(), ended.By(r.ctx))
}

// unavailable returns the error of a request that too few members answer.
func (r *request) unavailable() error {
	return r.store.unavailable(r.ctx, r.operation(), func(m *member) error { return cmp.Or(m.whySilent(), r.failed[m.index]) })
}

// lost returns the error of an owner that has lost what it builds on.
func (r *request) lost() error {
	return fmt.Errorf("quorum: %s: %w: owner %s holds nothing any more", r.operation(), pathlock.ErrLost, r.Owner.Short())
}

// conflict returns the error for what a member has refused, with the whole time of the wait.
func (r *request) conflict(err error) error {
	conflict, ok := errors.AsType[*pathlock.ConflictError](err)
	if !ok {
		return fmt.Errorf("quorum: %w", err)
	}
	whole := *conflict
	whole.Waited = time.Since(r.began)
	if cause := r.ctx.Err(); errors.Is(cause, context.DeadlineExceeded) && !errors.Is(&whole, cause) {
		whole.Err = errors.Join(whole.Err, cause)
	}
	return &whole
}
