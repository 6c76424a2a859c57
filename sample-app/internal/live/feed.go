// Package live tells those who watch a plan that it has changed, and who holds what in it, on
// whichever instance.
//
// Each plan's row counts the plan's changes. Whoever changes a tree locks what it changes, so an
// instance takes the release of an exclusive lock for the news of a change. It counts every
// [countEvery]: no transaction of a change writes the counter, where all changes of a plan would
// wait for one row. The counters and the locks are read every [lookEvery], of plans that somebody
// watches through the instance.
//
// The counter is a hint and no record. It may rise without a change, as after a refused write, and
// an instance that is killed between a commit and the count leaves that change untold until the
// next one.
package live

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/plans"
)

// How often an instance counts and looks.
const (
	countEvery = 250 * time.Millisecond
	lookEvery  = 500 * time.Millisecond
	// answerTime is how long the database and the lock store may take for a count or a look.
	answerTime = 5 * time.Second
)

// MaxWatches is how many watches an instance serves at once.
const MaxWatches = 512

// The errors of [Feed.Watch].
var (
	// ErrTooMany: the instance serves [MaxWatches] already.
	ErrTooMany = errors.New("live: too many watch plans through this instance")
	// ErrStopped: the instance ends.
	ErrStopped = errors.New("live: the instance ends")
)

// Feed counts the changes of an instance, and shows its watchers those of all instances. It is an
// observer of the instance's locker. [Feed.Close] ends its two goroutines.
type Feed struct {
	pathlock.NopObserver
	db        *database.DB
	namespace string
	log       *slog.Logger
	locker    *pathlock.Locker
	service   *plans.Service

	mu      sync.Mutex
	changed map[int64]bool // the plans that are not counted yet
	watches map[*Watch]bool
	places  map[int64]places // by plan, as far as somebody watches it

	look     chan struct{}      // has room for one wake-up
	stop     context.CancelFunc // ends the watches
	stopping context.Context
	closing  chan struct{} // closed after the last change
	running  sync.WaitGroup
}

// New returns a feed of the plans whose trees are in a namespace. It has to observe the locker that
// [Feed.Start] gets.
func New(db *database.DB, namespace string, log *slog.Logger) *Feed {
	f := &Feed{
		db: db, namespace: namespace, log: log, look: make(chan struct{}, 1), closing: make(chan struct{}),
		changed: map[int64]bool{}, watches: map[*Watch]bool{}, places: map[int64]places{},
	}
	f.stopping, f.stop = context.WithCancel(context.Background())
	return f
}

// Start begins to count and to look.
func (f *Feed) Start(locker *pathlock.Locker, service *plans.Service) {
	f.locker, f.service = locker, service
	f.running.Go(f.count)
	f.running.Go(f.watch)
}

// Released implements [pathlock.Observer].
func (f *Feed) Released(_ context.Context, e pathlock.Event) {
	exclusive := func(c pathlock.Claim) bool { return c.Mode == pathlock.ModeX }
	id, err := strconv.ParseInt(e.Tree.ID(), 10, 64)
	if err == nil && e.Tree.Namespace() == f.namespace && (e.Gate || slices.ContainsFunc(e.Claims, exclusive)) {
		f.Changed(id)
	}
}

// Changed records a committed change of a plan. One that takes locks need not call it.
func (f *Feed) Changed(plan int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed[plan] = true
}

// Stop ends all watches, and refuses new ones. It does not wait.
func (f *Feed) Stop() { f.stop() }

// Close counts what is not counted yet, and ends the goroutines. It must be called once.
func (f *Feed) Close() {
	f.Stop()
	close(f.closing)
	f.running.Wait()
}

// count adds the changes of this instance to the plans' counters.
func (f *Feed) count() {
	ticker := time.NewTicker(countEvery)
	defer ticker.Stop()
	for open := true; open; {
		select {
		case <-ticker.C:
		case <-f.closing:
			open = false
		}
		f.countChanged()
	}
}

// countChanged counts what has changed. What cannot be counted is tried again.
func (f *Feed) countChanged() {
	f.mu.Lock()
	changed := f.changed
	f.changed = map[int64]bool{}
	f.mu.Unlock()
	if len(changed) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	for id := range changed {
		// A statement for each: two instances never hold one row and wait for another.
		if err := quiet(ctx, f.db.Plain).Exec(`UPDATE plans SET changes = changes + 1 WHERE id = ?`, id).Error; err != nil {
			f.log.WarnContext(ctx, "watchers miss changes until the database answers", "error", err)
			break
		}
		delete(changed, id)
	}
	f.mu.Lock()
	maps.Copy(f.changed, changed)
	f.mu.Unlock()
	wake(f.look)
}

// wake sends a wake-up, unless one is due already.
func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// quiet is a session that logs no statement.
func quiet(ctx context.Context, db *gorm.DB) *gorm.DB {
	return db.Session(&gorm.Session{NewDB: true, Logger: logger.Discard, Context: ctx})
}
