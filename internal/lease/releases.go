package lease

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// The pause before a retry doubles from the first to the last.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = time.Second
)

// Releases are the releases that are under way in the background: first tries, and the retries of
// those that failed. A key says what is being released. The zero Releases has none.
type Releases[K comparable] struct {
	mu       sync.Mutex
	underWay map[K]map[*release]struct{}
	// closed says that no further first try may begin, and hurried that no further retry may.
	closed, hurried bool
	// failed counts the releases that failed for good, and why is the last one's error.
	failed int
	why    error
}

// release is a first try, or a retry until nothing is left to release. Between the tries of a retry
// there is a timer and no goroutine.
type release struct {
	ended chan struct{}
	// next begins the next try of a retry; nil for a first try.
	next *time.Timer
}

// Begin enters a first try, whose end the caller reports by end. It returns nil after Close.
func (rs *Releases[K]) Begin(key K) (end func()) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed {
		return nil
	}
	r := rs.add(key)
	return func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		rs.remove(key, r)
	}
}

// Retry calls try after a pause, and again and again until it returns true. After Hurry it does
// nothing.
func (rs *Releases[K]) Retry(key K, try func() (over bool)) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.hurried {
		return
	}
	r, pause := rs.add(key), firstPause
	r.next = time.AfterFunc(pause, func() {
		over := try()
		rs.mu.Lock()
		defer rs.mu.Unlock()
		if over || rs.hurried {
			rs.remove(key, r)
			return
		}
		pause = min(2*pause, lastPause)
		r.next.Reset(pause)
	})
}

// Hurry has what is retried tried once more, at once, unless a try is under way. It fails for good
// then.
func (rs *Releases[K]) Hurry() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.hurried = true
	for _, releases := range rs.underWay {
		for r := range releases {
			if r.next != nil && r.next.Stop() {
				r.next.Reset(0)
			}
		}
	}
}

// add and remove expect mu to be locked.
func (rs *Releases[K]) add(key K) *release {
	r := &release{ended: make(chan struct{})}
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
	if delete(rs.underWay[key], r); len(rs.underWay[key]) == 0 {
		delete(rs.underWay, key)
	}
	close(r.ended)
}

// Tries are some releases that were under way at one moment.
type Tries []<-chan struct{}

// UnderWay returns the first tries of a key.
func (rs *Releases[K]) UnderWay(key K) (tries Tries) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for r := range rs.underWay[key] {
		if r.next == nil {
			tries = append(tries, r.ended)
		}
	}
	return tries
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

// Await waits for what is under way of the keys, and for the retries that follow, or until ctx has
// ended. It does not wait for first tries that begin later: where many release, there may always be
// one. No keys mean all. It returns how many releases are left.
func (rs *Releases[K]) Await(ctx context.Context, keys ...K) (left int) {
	for later := false; ; later = true {
		var all Tries
		rs.mu.Lock()
		of := keys
		if len(keys) == 0 {
			of = slices.Collect(maps.Keys(rs.underWay))
		}
		for _, key := range of {
			for r := range rs.underWay[key] {
				if !later || r.next != nil {
					all = append(all, r.ended)
				}
			}
		}
		rs.mu.Unlock()
		// A first try that fails has begun a retry.
		if left = all.Wait(ctx); left > 0 || len(all) == 0 {
			return left
		}
	}
}

// Close lets no further first try begin, and awaits all that are under way. It returns how many are
// left when ctx has ended, and how many have failed for good, with the last one's error.
func (rs *Releases[K]) Close(ctx context.Context) (left, failed int, why error) {
	rs.mu.Lock()
	rs.closed = true
	rs.mu.Unlock()
	left = rs.Await(ctx)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return left, rs.failed, rs.why
}
