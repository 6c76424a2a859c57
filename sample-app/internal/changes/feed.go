package changes

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock/sample-app/internal/database"
)

// How often an instance counts and looks.
const (
	// countEvery is the least time between two counts of one instance.
	countEvery = 250 * time.Millisecond
	// lookEvery is how often an instance looks at the plans that are watched through it.
	lookEvery = 500 * time.Millisecond
	// lookPause is the least time between two looks: a change of the instance's own prompts one.
	lookPause = 100 * time.Millisecond
	// answerTime is how long the database and the lock store may take for a count or a look.
	answerTime = 5 * time.Second
)

// MaxWatches is how many watches an instance serves at once.
const MaxWatches = 512

// The errors of [Feed.Watch].
var (
	// ErrTooMany: the instance serves [MaxWatches] already.
	ErrTooMany = errors.New("changes: too many watch plans through this instance")
	// ErrStopped: the instance ends.
	ErrStopped = errors.New("changes: the instance ends")
)

// Locks returns who holds and who waits in a plan, as JSON that is equal while nothing changes.
type Locks func(ctx context.Context, plan int64) ([]byte, error)

// Feed counts the changes of an instance, and shows its watchers those of all instances.
// [Feed.Close] ends its two goroutines.
type Feed struct {
	db    *database.DB
	locks Locks
	log   *slog.Logger

	mu sync.Mutex
	// marks are the plans, and the suites whose plans are not known yet, that have changed and are
	// not counted.
	plans, suites map[int64]struct{}
	watched       map[int64]*watched
	watches       int

	// marked and look have room for one wake-up.
	marked, look chan struct{}
	stop, close  sync.Once
	stopping     chan struct{}
	closing      chan struct{}
	running      sync.WaitGroup
}

// New returns a feed of a database's plans.
func New(db *database.DB, locks Locks, log *slog.Logger) *Feed {
	f := &Feed{
		db: db, locks: locks, log: log,
		plans: map[int64]struct{}{}, suites: map[int64]struct{}{}, watched: map[int64]*watched{},
		marked: make(chan struct{}, 1), look: make(chan struct{}, 1),
		stopping: make(chan struct{}), closing: make(chan struct{}),
	}
	f.running.Go(f.count)
	f.running.Go(f.watch)
	return f
}

// PlanChanged records a committed change of a plan.
func (f *Feed) PlanChanged(id int64) {
	f.mu.Lock()
	f.plans[id] = struct{}{}
	f.mu.Unlock()
	wake(f.marked)
}

// SuiteChanged records a committed change of a suite, or of a case in it. The feed looks up the
// plan. The row may be in the recycle bin.
func (f *Feed) SuiteChanged(id int64) {
	f.mu.Lock()
	f.suites[id] = struct{}{}
	f.mu.Unlock()
	wake(f.marked)
}

// Look has the feed look at the watched plans now, after a change of locks.
func (f *Feed) Look() { wake(f.look) }

// Stop ends all watches, and refuses new ones. It does not wait.
func (f *Feed) Stop() { f.stop.Do(func() { close(f.stopping) }) }

// Close counts what is not counted yet, and ends the goroutines.
func (f *Feed) Close() {
	f.Stop()
	f.close.Do(func() { close(f.closing) })
	f.running.Wait()
}

// wake sends a wake-up, unless one is due already.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// pause waits, unless the feed is closed before: then it reports false.
func (f *Feed) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-f.closing:
		return false
	}
}

// quiet is a session that logs no statement.
func quiet(ctx context.Context, db *gorm.DB) *gorm.DB {
	return db.Session(&gorm.Session{NewDB: true, Logger: logger.Discard, Context: ctx})
}
