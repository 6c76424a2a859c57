package live

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// State is what is known of a watched plan.
type State struct {
	// Gone says that there is no such plan any more.
	Gone bool
	// Revision is the count of its changes.
	Revision int64
	// Locks is its [Locks] as JSON, nil while the lock store does not answer.
	Locks []byte
}

func (s State) equals(other State) bool {
	return s.Gone == other.Gone && s.Revision == other.Revision && bytes.Equal(s.Locks, other.Locks)
}

// Watch is one watcher's view of a plan.
type Watch struct {
	// News has the last state, if it is another one than the watcher has received.
	News chan State
	plan int64
	told *State
}

// Watch begins to watch a plan. The caller has to give it to [Feed.Leave]. Its errors are
// [ErrTooMany] and [ErrStopped].
func (f *Feed) Watch(plan int64) (*Watch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopping.Err() != nil {
		return nil, ErrStopped
	}
	if len(f.watches) >= MaxWatches {
		return nil, ErrTooMany
	}
	w := &Watch{News: make(chan State, 1), plan: plan}
	f.watches[w] = true
	wake(f.look)
	return w, nil
}

// Leave ends a watch.
func (f *Feed) Leave(w *Watch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.watches, w)
}

// Stopping is done when the feed stops.
func (f *Feed) Stopping() <-chan struct{} { return f.stopping.Done() }

// watch looks at the watched plans.
func (f *Feed) watch() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-f.look:
		case <-ticker.C:
		case <-f.stopping.Done():
			return
		}
		f.lookAtAll()
	}
}

// lookAtAll tells the watchers of each plan what it is like now.
func (f *Feed) lookAtAll() {
	watched := map[int64][]*Watch{}
	f.mu.Lock()
	for w := range f.watches {
		watched[w.plan] = append(watched[w.plan], w)
	}
	for plan := range f.places {
		if watched[plan] == nil {
			delete(f.places, plan)
		}
	}
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(f.stopping, answerTime)
	defer cancel()
	var ids []int64
	for plan := range watched {
		ids = append(ids, plan)
	}
	revisions, err := f.revisions(ctx, ids)
	if err != nil {
		f.log.DebugContext(ctx, "watched plans: the database does not answer", "error", err)
		return
	}
	for plan, watches := range watched {
		revision, exists := revisions[plan]
		state := State{Gone: !exists, Revision: revision}
		if exists {
			if state.Locks, err = f.locksJSON(ctx, plan, revision); err != nil {
				f.log.DebugContext(ctx, "watched plans: the locks are not known", "plan", plan, "error", err)
			}
		}
		for _, w := range watches {
			w.tell(state)
		}
	}
}

// locksJSON is the locks of a plan, or nil.
func (f *Feed) locksJSON(ctx context.Context, plan, revision int64) ([]byte, error) {
	locks, err := f.locksAt(ctx, plan, revision)
	if err != nil {
		return nil, err
	}
	return json.Marshal(locks)
}

// tell puts a new state in the place of one that was not received yet.
func (w *Watch) tell(state State) {
	if w.told != nil && w.told.equals(state) {
		return
	}
	w.told = &state
	select {
	case <-w.News:
	default:
	}
	w.News <- state
}

// Revision returns the count of a plan's changes. It is 0 for a plan that does not exist.
func (f *Feed) Revision(ctx context.Context, plan int64) (int64, error) {
	found, err := f.revisions(ctx, []int64{plan})
	return found[plan], err
}

// revisions returns the counters of those plans that exist.
func (f *Feed) revisions(ctx context.Context, ids []int64) (map[int64]int64, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []model.Plan
	if err := quiet(ctx, f.db.Read).Select("id", "changes").Find(&rows, ids).Error; err != nil {
		return nil, err
	}
	found := make(map[int64]int64, len(rows))
	for _, row := range rows {
		found[row.ID] = row.Changes
	}
	return found, nil
}
