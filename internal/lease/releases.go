package lease

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

// Releases are the releases that are under way in the background: first tries, and the retries of
// those that failed. [Releases.UnderWay] finds those of one key. The zero Releases has none.
type Releases[K comparable] struct {
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
func (rs *Releases[K]) Begin(key K) (end func()) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed {
		return nil
	}
	r := rs.add(key, false)
	return func() { rs.remove(key, r) }
}

// Retry calls try after a pause, and again and again until it returns true.
func (rs *Releases[K]) Retry(key K, try func() (over bool)) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	r := rs.add(key, true)
	pause := firstPause
	var again func()
	again = func() {
		if try() {
			rs.remove(key, r)
			return
		}
		pause = min(2*pause, lastPause)
		time.AfterFunc(pause, again)
	}
	time.AfterFunc(pause, again)
}

func (rs *Releases[K]) add(key K, retries bool) *release {
	r := &release{retries, make(chan struct{})}
	if rs.underWay == nil {
		rs.underWay = make(map[K]map[*release]struct{})
	}
	if rs.underWay[key] == nil {
		rs.underWay[key] = make(map[*release]struct{})
	}
	rs.underWay[key][r] = struct{}{}
	return r
}

func (rs *Releases[K]) remove(key K, r *release) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if delete(rs.underWay[key], r); len(rs.underWay[key]) == 0 {
		delete(rs.underWay, key)
	}
	close(r.ended)
}

// Tries are some first tries that were under way at one moment.
type Tries []<-chan struct{}

// UnderWay returns the first tries of a key, and how many releases of it are retried.
func (rs *Releases[K]) UnderWay(key K) (tries Tries, retried int) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for r := range rs.underWay[key] {
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
func (rs *Releases[K]) GiveUp(why error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.failed++
	rs.why = why
}

// Close lets no further first try begin, and waits for the end of all that are under way, retries
// included. It returns how many are left when ctx has ended, and how many have failed for good,
// with the last one's error.
func (rs *Releases[K]) Close(ctx context.Context) (left, failed int, why error) {
	for {
		rs.mu.Lock()
		rs.closed = true
		failed, why = rs.failed, rs.why
		var all Tries
		for _, releases := range rs.underWay {
			for r := range releases {
				all = append(all, r.ended)
			}
		}
		rs.mu.Unlock()
		// A release that fails begins a retry.
		if left = all.Wait(ctx); left > 0 || len(all) == 0 {
			return left, failed, why
		}
	}
}
