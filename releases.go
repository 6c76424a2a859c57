package pathlock

import (
	"context"
	"fmt"
	"sync"
)

// releases are those of a locker that are under way in the background: see
// [Lock.ReleaseInBackground], and what failed at first: see [Lock.Release].
type releases struct {
	mu sync.Mutex
	// underWay has one channel per release, by tree, which is closed at its end, with the release
	// that is tried again, nil where it is the first try.
	underWay map[Tree]map[chan struct{}]*retry
	// closed says that no first try may begin any more.
	closed bool
	// givenUp counts what could not be released because the store was closed, and why is the last
	// error.
	givenUp int
	why     error
}

// begin enters a release in a tree, for the caller to end, or returns nil if none may begin any
// more.
func (r *releases) begin(tree Tree) (ended chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	return r.add(tree, nil)
}

// enter enters a release that is tried again.
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

// giveUp notes that something could not be released, nor ever can be.
func (r *releases) giveUp(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.givenUp++
	r.why = why
}

// failure says what has been given up, nil where nothing has.
func (r *releases) failure() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.givenUp == 0 {
		return nil
	}
	return fmt.Errorf("pathlock: %d releases failed, and their locks end with their leases: %w", r.givenUp, r.why)
}

// in returns the releases that are under way in a tree, as they are now.
func (r *releases) in(tree Tree) (p underWay) {
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

// close lets no more begin, and returns all that are under way.
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

func (u underWay) isNothing() bool { return len(u.first)+len(u.again) == 0 }

// wait waits until those that are under way have ended, and those that are tried again have been
// tried once more, or until ctx has ended; then it returns how many are left.
func (u underWay) wait(ctx context.Context) (left int) {
	all := u.first
	for _, t := range u.again {
		all = append(all, t.hurry())
	}
	return all.wait(ctx)
}

// pending are releases, or tries, to wait for.
type pending []<-chan struct{}

// wait waits until all have ended, or ctx has; then it returns how many are left.
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

// Shutdown waits for the releases that are under way in the background, also for those that failed
// and are tried again, so that a program that ends leaves no locks behind: call it when the last
// request has been served and before the store is closed. If ctx ends first, the error matches the
// context's, and those locks end with their leases. So they do if the store has been closed before:
// then nothing is tried again, and the error matches [ErrClosed].
//
// From then on [Lock.ReleaseInBackground] does its work before it returns. Everything else goes on
// as before.
func (l *Locker) Shutdown(ctx context.Context) error {
	for {
		all := l.releases.close()
		if len(all) == 0 {
			return l.releases.failure()
		}
		// A release that fails is not over: it is tried again.
		if left := all.wait(ctx); left > 0 {
			return fmt.Errorf("pathlock: %d releases are still under way: %w", left, context.Cause(ctx))
		}
	}
}
