// Package contention remembers who waited for whom. By the time somebody looks at the locks, a wait
// is usually over, and a snapshot shows no trace of it. A [Recorder] keeps the last waits:
//
//	recorder := contention.New(store, contention.Config{})
//	defer recorder.Close()
//	locker := pathlock.New(store, pathlock.WithObserver(recorder))
//
// [Recorder.History] returns the last waits of this process that took at least [Config.Threshold],
// each with who blocked it. Package admin shows them.
//
// When a wait reaches the threshold, the recorder asks the store for a snapshot of the tree to
// learn who blocks it. It does so at most 20 times a second, one at a time, on a goroutine of its
// own that [Recorder.Close] ends. The error of a refused request also says who blocked it. Waits in
// other processes are in their own recorders. The recorder leaves out candidates and observers of
// package election, which wait as long as the leader is well.
package contention

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Defaults of a [Config].
const (
	defaultThreshold = 50 * time.Millisecond
	defaultCapacity  = 256
)

// Bounds of the looks at the store.
const (
	// lookPause is the least time between two snapshots, of whichever trees.
	lookPause = 50 * time.Millisecond
	// lookTimeout is how long a snapshot may take.
	lookTimeout = 2 * time.Second
)

// elections is the namespace of package election.
const elections = "election"

// Config changes what a [Recorder] does. All fields are optional.
type Config struct {
	// Threshold is how long a wait has to last to be recorded. Defaults to 50 ms.
	Threshold time.Duration
	// Capacity is how many waits are kept. Defaults to 256.
	Capacity int
	// Log gets snapshots that failed, at debug level. Defaults to [slog.Default].
	Log *slog.Logger
}

// Recorder is a [pathlock.Observer] that remembers who waited for whom. Any number of goroutines
// may use it.
type Recorder interface {
	pathlock.Observer
	// History returns what is remembered.
	History() History
	// Close ends the recorder's goroutine, and returns when it has ended. The history stays
	// readable, and later waits are recorded without a look at who blocks them.
	Close()
}

type recorder struct {
	pathlock.NopObserver
	store  pathlock.Store
	config Config
	since  time.Time
	// wake tells the watcher that a wait has begun.
	wake chan struct{}
	stop context.CancelFunc
	done chan struct{}

	mu     sync.Mutex
	closed bool
	// fresh are the waits that may reach the threshold, in the order in which they began.
	fresh []*acquisition
	// ended are the waits that are remembered, in the order in which they ended.
	ended   []Wait
	dropped int
}

// New returns a recorder that asks store who blocks the waiters. Give it to the locker on the same
// store with [pathlock.WithObserver], and close it at the end.
func New(store pathlock.Store, config Config) Recorder {
	config.Threshold = max(cmp.Or(config.Threshold, defaultThreshold), 0)
	config.Capacity = max(cmp.Or(config.Capacity, defaultCapacity), 1)
	config.Log = cmp.Or(config.Log, slog.Default())
	ctx, stop := context.WithCancel(context.Background())
	r := &recorder{
		store: store, config: config, since: time.Now(),
		wake: make(chan struct{}, 1), stop: stop, done: make(chan struct{}),
	}
	go r.watch(ctx)
	return r
}

// Close implements [Recorder].
func (r *recorder) Close() {
	r.stop()
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed, r.fresh = true, nil
}

// acquisition is a request for locks.
type acquisition struct {
	// wait is nil unless the request waits. The recorder's mutex guards what it points to.
	wait atomic.Pointer[Wait]
}

// acquisitionKey is the context key of a recorder's acquisition.
type acquisitionKey struct{ *recorder }

// Acquiring implements [pathlock.Observer].
func (r *recorder) Acquiring(ctx context.Context, _ pathlock.Event) context.Context {
	return context.WithValue(ctx, acquisitionKey{r}, new(acquisition))
}

// Waiting implements [pathlock.Observer].
func (r *recorder) Waiting(ctx context.Context, e pathlock.Event) {
	a, ok := ctx.Value(acquisitionKey{r}).(*acquisition)
	if !ok || e.Tree.Namespace() == elections {
		return
	}
	if !a.wait.CompareAndSwap(nil, newWait(e, time.Now())) {
		return // the request went to the store twice
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.fresh = append(r.fresh, a); len(r.fresh) == 1 {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// Granted implements [pathlock.Observer].
func (r *recorder) Granted(ctx context.Context, e pathlock.Event) { r.end(ctx, e) }

// Refused implements [pathlock.Observer].
func (r *recorder) Refused(ctx context.Context, e pathlock.Event) { r.end(ctx, e) }

// end notes the end of a request, which may have waited.
func (r *recorder) end(ctx context.Context, e pathlock.Event) {
	a, ok := ctx.Value(acquisitionKey{r}).(*acquisition)
	if !ok {
		return
	}
	w := a.wait.Swap(nil)
	if w == nil || time.Since(w.Began) < r.config.Threshold {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w.end(e.Err, time.Now())
	r.keep(*w)
}

// watch looks at the trees of waits that reach the threshold, until ctx ends.
func (r *recorder) watch(ctx context.Context) {
	defer close(r.done)
	for {
		ripe, next := r.ripe(time.Now())
		for tree, waiting := range ripe {
			r.look(ctx, tree, waiting)
			if !pause(ctx, lookPause, nil) {
				return
			}
		}
		if !pause(ctx, next, r.wake) {
			return
		}
	}
}

// pause waits for some time, for a wake-up, or for the end of ctx, which it reports by false. It
// waits for no time if that is 0.
func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	var over <-chan time.Time
	if d > 0 || wake == nil {
		over = time.After(d)
	}
	select {
	case <-over:
	case <-wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// ripe takes the waits that have reached the threshold, by their trees, and returns when the next
// one will, 0 if there is none.
func (r *recorder) ripe(now time.Time) (ripe map[pathlock.Tree][]*acquisition, next time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ripe = make(map[pathlock.Tree][]*acquisition)
	for i, a := range r.fresh {
		w := a.wait.Load()
		switch {
		case w == nil:
		case now.Sub(w.Began) < r.config.Threshold:
			r.fresh = slices.Delete(r.fresh, 0, i)
			return ripe, w.Began.Add(r.config.Threshold).Sub(now)
		default:
			ripe[w.Tree] = append(ripe[w.Tree], a)
		}
	}
	r.fresh = nil
	return ripe, 0
}

// look learns from a snapshot who blocks the waiters of a tree.
func (r *recorder) look(ctx context.Context, tree pathlock.Tree, waiting []*acquisition) {
	ctx, stop := context.WithTimeout(ctx, lookTimeout)
	defer stop()
	snapshot, err := r.store.Snapshot(ctx, tree)
	if err != nil {
		r.config.Log.DebugContext(ctx, "contention: no snapshot", "tree", tree.String(), "error", err)
		return
	}
	blockers := snapshot.Blockers()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range waiting {
		w := a.wait.Load()
		if w == nil {
			continue
		}
		for i, e := range snapshot.Waiters {
			if e.Owner == w.Owner && e.Note == w.Note && len(blockers[i]) > 0 {
				w.blame(e, blockers[i][0]) // holders come first
				break
			}
		}
	}
}
