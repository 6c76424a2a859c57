package pathlock

import (
	"context"
	"fmt"
	"sync"
)

// releases are a locker's releases that are under way in the background: those of
// [Lock.ReleaseInBackground], and the retries of those that failed.
type releases struct {
	mu sync.Mutex
	// underWay has a channel for each release, by tree, that is closed at its end. The value is nil
	// for a first try.
	underWay map[Tree]map[chan struct{}]*retry
	// closed says that no further first try may begin.
	closed bool
	// givenUp counts the releases that failed for good because the store was closed, and why is the
	// last error.
	givenUp int
	why     error
}

// begin enters a first try in a tree, for the caller to end. It returns nil if none may begin.
func (r *releases) begin(tree Tree) (ended chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	return r.add(tree, nil)
}

// enter enters a retry in a tree.
func (r *releases) enter(tree Tree, again *retry) (ended chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.add(tree, again)
}

func (r *releases) add(tree Tree, again *retry) (ended chan struct{}) {
	if r.underWay == nil {
		r.underWay = make(map[Tree]map[chan struct{}]*retry)
	}
	if r.underWay[tree] == nil {
		r.underWay[tree] = make(map[chan struct{}]*retry)
	}
	ended = make(chan struct{})
	r.underWay[tree][ended] = again
	return ended
}

// end undoes begin and enter.
func (r *releases) end(tree Tree, ended chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.underWay[tree], ended)
	if len(r.underWay[tree]) == 0 {
		delete(r.underWay, tree)
	}
	close(ended)
}

// giveUp notes that a release failed for good.
func (r *releases) giveUp(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.givenUp++
	r.why = why
}

// failure returns what failed for good, nil if nothing did.
func (r *releases) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.givenUp == 0 {
		return nil
	}
	return fmt.Errorf("pathlock: %d releases failed, and their locks end with their leases: %w", r.givenUp, r.why)
}

// inTree returns the releases that are under way in a tree.
func (r *releases) inTree(tree Tree) (p underWay) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ended, again := range r.underWay[tree] {
		if again == nil {
			p.first = append(p.first, ended)
		} else {
			p.again = append(p.again, again)
		}
	}
	return p
}

// close lets no further first try begin, and returns all releases that are under way.
func (r *releases) close() (all pending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, tree := range r.underWay {
		for ended := range tree {
			all = append(all, ended)
		}
	}
	return all
}

// underWay are the releases of one tree that are under way.
type underWay struct {
	first pending
	again []*retry
}

func (u underWay) isEmpty() bool { return len(u.first)+len(u.again) == 0 }

// wait waits until the first tries have ended and each retry has been tried once more, or until ctx
// has ended. It returns how many are left.
func (u underWay) wait(ctx context.Context) (left int) {
	all := u.first
	for _, t := range u.again {
		all = append(all, t.hurry())
	}
	return all.wait(ctx)
}

// pending are releases, or tries, to wait for.
type pending []<-chan struct{}

// wait waits until all have ended, or ctx has. It returns how many are left.
func (p pending) wait(ctx context.Context) (left int) {
	for i, ended := range p {
		select {
		case <-ended:
		case <-ctx.Done():
			return len(p) - i
		}
	}
	return 0
}

// Shutdown waits for the releases that are under way in the background, retries included, so that a
// program leaves no locks behind when it ends. Call it after the last request, and before the store
// is closed.
//
// The error matches the context's if ctx ends first, and [ErrClosed] if the store has been closed
// before, so that retries are pointless. Then the remaining locks end with their leases.
//
// After Shutdown, [Lock.ReleaseInBackground] does its work before it returns. Everything else works
// as before.
func (l *Locker) Shutdown(ctx context.Context) error {
	for {
		all := l.releases.close()
		if len(all) == 0 {
			return l.releases.failure()
		}
		// A release that fails begins a retry.
		if left := all.wait(ctx); left > 0 {
			return fmt.Errorf("pathlock: %d releases are still under way: %w", left, context.Cause(ctx))
		}
	}
}
