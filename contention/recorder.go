package contention

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Defaults of a [Config].
const (
	// DefaultThreshold is how long a wait has to last to be recorded.
	DefaultThreshold = 50 * time.Millisecond
	// DefaultCapacity is how many episodes are kept.
	DefaultCapacity = 256
	// DefaultLookEvery is the pause after the first look at a tree.
	DefaultLookEvery = time.Second
)

// elections is the namespace of package election. Candidates and observers wait for as long as all
// is well: that is no stall.
const elections = "election"

// Config changes what a [Recorder] does. All fields are optional.
type Config struct {
	// Threshold is how long a wait has to last to be recorded: [DefaultThreshold] if it is 0.
	Threshold time.Duration
	// Capacity is how many episodes are kept: [DefaultCapacity] if it is 0.
	Capacity int
	// LookEvery is the least time between two snapshots of a tree in which somebody waits:
	// [DefaultLookEvery] if it is 0.
	LookEvery time.Duration
	// Fold is the fold of the locker, where [pathlock.WithFold] has set one. It gives requests that
	// ended before they were looked at the place that others have.
	Fold func(name string) string
	// Log gets snapshots that failed, at debug level: [slog.Default] if it is nil.
	Log *slog.Logger
}

// withDefaults returns the configuration with all fields filled in.
func (c Config) withDefaults() Config {
	c.Threshold = max(cmp.Or(c.Threshold, DefaultThreshold), 0)
	c.Capacity = max(cmp.Or(c.Capacity, DefaultCapacity), 1)
	c.LookEvery = max(cmp.Or(c.LookEvery, DefaultLookEvery), leastPause)
	if c.Fold == nil {
		c.Fold = pathlock.Fold
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return c
}

// Recorder is a [pathlock.Observer] that remembers who waited for whom. Any number of goroutines
// may use it.
type Recorder struct {
	pathlock.NopObserver
	// looks reads snapshots, with the origins that a store does not know.
	looks  *pathlock.Locker
	config Config
	// wake tells the watcher that there is something to wait for.
	wake chan struct{}
	stop context.CancelFunc
	done chan struct{}

	mu sync.Mutex
	// closed says that nobody watches the waits any more.
	closed bool
	// fresh are the waits that may reach the threshold, in the order in which they began.
	fresh []*wait
	// stalls are the trees in which waits have reached it and last.
	stalls map[pathlock.Tree]*stall
	// nextLook is when the next snapshot may be asked for, of any tree.
	nextLook time.Time
	book     book
}

// New returns a recorder that learns from store who is in the way of those that wait. Give it to
// the locker on the same store with [pathlock.WithObserver], and close it at the end.
func New(store pathlock.Store, config Config) *Recorder {
	ctx, stop := context.WithCancel(context.Background())
	r := &Recorder{
		looks: pathlock.New(store), config: config.withDefaults(),
		wake: make(chan struct{}, 1), stop: stop, done: make(chan struct{}),
		stalls: make(map[pathlock.Tree]*stall),
	}
	r.book = newBook(r.config.Capacity, time.Now())
	go r.watch(ctx)
	return r
}

// Close ends the recorder's goroutine, and returns when it has ended. What is recorded stays
// readable, and later waits are recorded without a look at who is in the way.
func (r *Recorder) Close() {
	r.stop()
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed, r.fresh = true, nil
	clear(r.stalls)
}

// acquisition is the context of a request for locks. It carries the wait of the request, if there
// is one.
type acquisition struct {
	context.Context
	recorder *Recorder
	wait     atomic.Pointer[wait]
}

// acquisitionKey is the context key of a recorder's acquisition.
type acquisitionKey struct{ *Recorder }

// Value implements [context.Context].
func (a *acquisition) Value(key any) any {
	if k, ok := key.(acquisitionKey); ok && k.Recorder == a.recorder {
		return a
	}
	return a.Context.Value(key)
}

// Acquiring implements [pathlock.Observer].
func (r *Recorder) Acquiring(ctx context.Context, _ pathlock.Event) context.Context {
	return &acquisition{Context: ctx, recorder: r}
}

// Waiting implements [pathlock.Observer].
func (r *Recorder) Waiting(ctx context.Context, e pathlock.Event) {
	a, ok := ctx.Value(acquisitionKey{r}).(*acquisition)
	if !ok || e.Tree.Namespace() == elections {
		return
	}
	w := newWait(e, time.Now())
	if !a.wait.CompareAndSwap(nil, w) {
		return // the request went to the store twice
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	if r.fresh = append(r.fresh, w); len(r.fresh) == 1 {
		r.wakeUp()
	}
}

// Granted implements [pathlock.Observer].
func (r *Recorder) Granted(ctx context.Context, e pathlock.Event) { r.end(ctx, e) }

// Refused implements [pathlock.Observer].
func (r *Recorder) Refused(ctx context.Context, e pathlock.Event) { r.end(ctx, e) }

// end notes the end of a request, which may have waited.
func (r *Recorder) end(ctx context.Context, e pathlock.Event) {
	a, ok := ctx.Value(acquisitionKey{r}).(*acquisition)
	if !ok {
		return
	}
	w := a.wait.Swap(nil)
	if w == nil {
		return
	}
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	w.over = true
	if now.Sub(w.began) < r.config.Threshold {
		return
	}
	if w.episode == nil {
		r.book.joinUnseen(w, e.Err, r.config.Fold, now)
	}
	r.book.leave(w, outcomeOf(e.Err), now)
	if s := r.stalls[w.tree]; s != nil {
		delete(s.waits, w)
		if len(s.waits) == 0 {
			delete(r.stalls, w.tree)
		}
	}
}

// wakeUp makes the watcher look again at what there is to do.
func (r *Recorder) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Version returns a number that grows with every change of the history, so that whoever shows it
// knows when to ask again.
func (r *Recorder) Version() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book.version
}
