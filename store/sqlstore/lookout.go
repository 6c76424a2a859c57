package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// errClosed is the error of a call to a store that has been closed.
var errClosed = fmt.Errorf("%w: %w", pathlock.ErrUnavailable, pathlock.ErrClosed)

// lookout learns for all waiters of this process when their waits are over. A waiter holds no
// connection.
//
// Where notifications of the database arrive, it looks into the tables once for every group of new
// waiters, because the news may be older than the wait. Elsewhere it looks again and again while
// somebody waits: for news often, after growing pauses, and for tickets that are gone every now and
// then. Both looks are one statement for all waiters.
type lookout struct {
	backend *backend
	work    *work

	mu      sync.Mutex
	watches map[ticketID]map[*watch]struct{}
	// fresh says that there are watches that no look has covered.
	fresh bool
	// runs says that the goroutine runs, and listening that notifications arrive.
	runs, listening bool
	// ring wakes the goroutine.
	ring chan struct{}
	// listen starts to listen for notifications, nil if the database has none.
	listen func()
}

// watch is one call of Watch.
type watch struct {
	// looks is how often the process had been told to look at the ticket when it last did.
	looks int64
	wake  func()
	woken bool
}

// thorough is how long the lookout goes without looking for tickets that are gone.
const thorough = time.Second

// listeningThorough is the same where notifications arrive: in case that one was lost.
const listeningThorough = 5 * time.Second

func newLookout(b *backend, w *work) *lookout {
	return &lookout{backend: b, work: w, watches: make(map[ticketID]map[*watch]struct{}), ring: make(chan struct{}, 1)}
}

// watch calls wake when a ticket does not wait any more, or has other looks, and returns what ends
// that.
func (l *lookout) watch(id ticketID, looks int64, wake func()) (stop func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := &watch{looks: looks, wake: wake}
	if !l.runs {
		if !l.work.start(l.run) {
			return nil, errClosed
		}
		l.runs = true
	}
	if l.listen != nil {
		l.listen()
		l.listen = nil
	}
	if l.watches[id] == nil {
		l.watches[id] = make(map[*watch]struct{})
	}
	l.watches[id][w] = struct{}{}
	l.fresh = true
	l.call()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.watches[id], w)
		if len(l.watches[id]) == 0 {
			delete(l.watches, id)
		}
	}, nil
}

// call has the goroutine look now.
func (l *lookout) call() {
	select {
	case l.ring <- struct{}{}:
	default:
	}
}

// wake wakes those who watch a ticket.
func (l *lookout) wake(ids ...ticketID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		for w := range l.watches[id] {
			w.woken = true
			w.wake()
		}
	}
}

// hears says whether notifications arrive from now on. Those that came before may have been missed.
func (l *lookout) hears(listening bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listening, l.fresh = listening, true
	l.call()
}

// linger is how long the lookout stays when nobody waits.
const linger = time.Second

// run looks until nobody has waited for a while, or the store is closed.
func (l *lookout) run(ctx context.Context) {
	pause, thoroughly, idle := l.backend.pollFrom, time.Time{}, time.Time{}
	for {
		l.mu.Lock()
		watches, fresh, listening := len(l.watches), l.fresh, l.listening
		l.fresh = false
		if watches > 0 {
			idle = time.Time{}
		} else if idle.IsZero() {
			idle = time.Now()
		}
		if ctx.Err() != nil || watches == 0 && time.Since(idle) >= linger {
			l.runs = false
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()

		every := thorough
		if listening {
			every = listeningThorough
		}
		var found bool
		var err error
		switch {
		case watches == 0:
		case fresh || time.Since(thoroughly) >= every:
			if found, err = l.lookThoroughly(ctx); err == nil {
				thoroughly = time.Now()
			}
		case !listening:
			found, err = l.lookForNews(ctx)
		}
		switch {
		case err != nil:
			l.mu.Lock()
			l.fresh = true
			l.mu.Unlock()
			pause = 4 * l.backend.pollTo
		case found, fresh:
			pause = l.backend.pollFrom
		default:
			pause = min(pause+pause/4, l.backend.pollTo)
		}
		sleep := pause
		if watches == 0 {
			sleep = linger
		} else if listening && err == nil {
			sleep = every
		}
		l.rest(ctx, sleep, err != nil)
	}
}

// rest waits for a while, or for a call unless the last look failed.
func (l *lookout) rest(ctx context.Context, d time.Duration, deaf bool) {
	ring := l.ring
	if deaf {
		ring = nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ring:
	case <-ctx.Done():
	}
}

// lookForNews wakes those whose tickets are granted or refused, or are to be looked at.
func (l *lookout) lookForNews(ctx context.Context) (found bool, err error) {
	news, err := l.sightings(ctx, "news", l.backend.home, granted, refused, called)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, seen := range news {
		for w := range l.watches[id] {
			// A thorough look wakes it again if it does not go.
			if !w.woken && !seen.waitsFor(w) {
				w.woken, found = true, true
				w.wake()
			}
		}
	}
	return found, nil
}

// lookThoroughly wakes all those that lookForNews does, and those whose tickets are gone.
func (l *lookout) lookThoroughly(ctx context.Context) (found bool, err error) {
	l.mu.Lock()
	covered := make(map[*watch]ticketID, len(l.watches))
	for id, watches := range l.watches {
		for w := range watches {
			covered[w] = id
		}
	}
	l.mu.Unlock()
	still, err := l.sightings(ctx, "waiting", l.backend.home, waiting, called)
	if err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for w, id := range covered {
		_, watches := l.watches[id][w]
		if seen, waits := still[id]; watches && (!waits || !seen.waitsFor(w)) {
			w.woken, found = true, true
			w.wake()
		}
	}
	return found, nil
}

// sighting is what a look has seen of a ticket.
type sighting struct {
	state int
	looks int64
}

// waitsFor reports whether there is nothing to tell those who watch.
func (s sighting) waitsFor(w *watch) bool {
	return (s.state == waiting || s.state == called) && s.looks == w.looks
}

// sightings returns the tickets that a statement finds.
func (l *lookout) sightings(ctx context.Context, name string, args ...any) (found map[ticketID]sighting, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.backend.timeout)
	defer cancel()
	r, err := l.backend.engine.query(ctx, name, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	found = make(map[ticketID]sighting)
	for r.Next() {
		var tree []byte
		var id ticketID
		var seen sighting
		if err := r.Scan(&tree, &id.place, &seen.state, &seen.looks); err != nil {
			return nil, err
		}
		copy(id.tree[:], tree)
		found[id] = seen
	}
	return found, r.Err()
}
