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

// Pending are the releases under way. Those of an equal key go together. The zero Pending has none.
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
	retries bool
	ended   chan struct{}
}

// Begin enters a first try, whose end the caller reports by end. It returns nil after Close.
func (p *Pending[K]) Begin(key K) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	r := p.add(key, false)
	return func() { p.remove(key, r) }
}

// Retry calls try after a pause, and again and again until it returns true.
func (p *Pending[K]) Retry(key K, try func() (over bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.add(key, true)
	pause := firstPause
	var again func()
	again = func() {
		if try() {
			p.remove(key, r)
			return
		}
		pause = min(2*pause, lastPause)
		time.AfterFunc(pause, again)
	}
	time.AfterFunc(pause, again)
}

func (p *Pending[K]) add(key K, retries bool) *release {
	r := &release{retries, make(chan struct{})}
	if p.underWay == nil {
		p.underWay = make(map[K]map[*release]struct{})
	}
	if p.underWay[key] == nil {
		p.underWay[key] = make(map[*release]struct{})
	}
	p.underWay[key][r] = struct{}{}
	return r
}

func (p *Pending[K]) remove(key K, r *release) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.underWay[key], r); len(p.underWay[key]) == 0 {
		delete(p.underWay, key)
	}
	close(r.ended)
}

// Tries are some first tries that were under way at one moment.
type Tries []<-chan struct{}

// UnderWay returns the first tries of a key, and how many releases of it are retried.
func (p *Pending[K]) UnderWay(key K) (tries Tries, retried int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.underWay[key] {
		if r.retries {
			retried++
		} else {
			tries = append(tries, r.ended)
		}
	}
	return tries, retried
}

// Wait waits until the tries have ended, or until ctx has. It returns how many are left.
func (t Tries) Wait(ctx context.Context) (left int) {
	for i, ended := range t {
		select {
		case <-ended:
		case <-ctx.Done():
			return len(t) - i
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
		var all Tries
		for _, releases := range p.underWay {
			for r := range releases {
				all = append(all, r.ended)
			}
		}
		p.mu.Unlock()
		// A release that fails begins a retry.
		if left = all.Wait(ctx); left > 0 || len(all) == 0 {
			return left, failed, why
		}
	}
}
