// Package release keeps the releases that are under way in the background: first tries, and the
// retries of those that failed. It knows neither stores nor locks.
package release

import (
	"context"
	"sync"
	"time"
)

// The pause before a retry doubles from the first to the last.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = time.Second
)

// Pending are the releases under way. Those of an equal key can be awaited together. The zero
// Pending has none.
type Pending[K comparable] struct {
	mu       sync.Mutex
	underWay map[K]map[*release]struct{}
	// closed says that no further first try may begin.
	closed bool
	// failed counts the releases that failed for good, and why is the last one's error.
	failed int
	why    error
}

// release is a first try, or a retry until nothing is left to release. Between the tries of a retry
// there is a timer and no goroutine.
type release struct {
	ended chan struct{} // closed after the last try

	// The rest is a retry's.
	try   func() (over bool)
	mu    sync.Mutex
	pause time.Duration
	timer *time.Timer   // nil for a first try
	tried chan struct{} // closed at the end of the next try, or of the one under way
}

// Begin enters a first try, whose end the caller reports by end. It returns nil after Close.
func (p *Pending[K]) Begin(key K) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	r := &release{ended: make(chan struct{})}
	p.add(key, r)
	return func() { p.remove(key, r) }
}

// Retry calls try after a pause, and again and again until it returns true.
func (p *Pending[K]) Retry(key K, try func() (over bool)) {
	r := &release{ended: make(chan struct{}), tried: make(chan struct{}), try: try, pause: firstPause}
	r.mu.Lock()
	defer r.mu.Unlock()
	p.mu.Lock()
	p.add(key, r)
	p.mu.Unlock()
	r.timer = time.AfterFunc(r.pause, func() {
		if r.again() {
			p.remove(key, r)
		}
	})
}

func (p *Pending[K]) add(key K, r *release) {
	if p.underWay == nil {
		p.underWay = make(map[K]map[*release]struct{})
	}
	if p.underWay[key] == nil {
		p.underWay[key] = make(map[*release]struct{})
	}
	p.underWay[key][r] = struct{}{}
}

func (p *Pending[K]) remove(key K, r *release) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.underWay[key], r); len(p.underWay[key]) == 0 {
		delete(p.underWay, key)
	}
	close(r.ended)
}

// again tries once more, and sets the timer for the next try unless it was the last.
func (r *release) again() (over bool) {
	over = r.try()
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.tried)
	if !over {
		r.tried = make(chan struct{})
		r.pause = min(2*r.pause, lastPause)
		r.timer.Reset(r.pause)
	}
	return over
}

// next begins the next try of a retry unless one is under way. It returns a channel that is closed
// at the end of that try.
func (r *release) next() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.try == nil {
		return r.ended
	}
	if r.timer.Stop() {
		r.timer.Reset(0)
	}
	return r.tried
}

// Releases are some that were under way at one moment.
type Releases []*release

// UnderWay returns the releases of a key.
func (p *Pending[K]) UnderWay(key K) (all Releases) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.underWay[key] {
		all = append(all, r)
	}
	return all
}

// Wait waits until the first tries have ended and each retry has been tried once more, or until ctx
// has ended. It returns how many are left.
func (all Releases) Wait(ctx context.Context) (left int) {
	tries := make([]<-chan struct{}, len(all))
	for i, r := range all {
		tries[i] = r.next()
	}
	return wait(ctx, tries)
}

func wait(ctx context.Context, all []<-chan struct{}) (left int) {
	for i, ended := range all {
		select {
		case <-ended:
		case <-ctx.Done():
			return len(all) - i
		}
	}
	return 0
}

// GiveUp notes that a release failed for good.
func (p *Pending[K]) GiveUp(why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed++
	p.why = why
}

// Close lets no further first try begin, and waits for the end of all that are under way, retries
// included. It returns how many are left when ctx has ended, and how many have failed for good,
// with the last one's error.
func (p *Pending[K]) Close(ctx context.Context) (left, failed int, why error) {
	for {
		p.mu.Lock()
		p.closed = true
		failed, why = p.failed, p.why
		var all []<-chan struct{}
		for _, releases := range p.underWay {
			for r := range releases {
				all = append(all, r.ended)
			}
		}
		p.mu.Unlock()
		// A release that fails begins a retry.
		if left = wait(ctx, all); left > 0 || len(all) == 0 {
			return left, failed, why
		}
	}
}
