package changes

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"
)

// State is what is known of a watched plan.
type State struct {
	// Known says that the feed has looked at the plan.
	Known bool
	// Gone says that there is no such plan, or none any more.
	Gone bool
	// Revision is the count of its changes.
	Revision int64
	// Locks is what [Locks] returned last, nil while the lock store does not answer.
	Locks []byte
}

// watched is a plan that somebody watches.
type watched struct {
	state   State
	watches map[*Watch]struct{}
}

// Watch is one watcher's view of a plan.
type Watch struct {
	feed *Feed
	plan int64
	news chan struct{}
}

// Watch begins to watch a plan. The caller has to close the watch. Its errors are [ErrTooMany] and
// [ErrStopped].
func (f *Feed) Watch(plan int64) (*Watch, error) {
	select {
	case <-f.stopping:
		return nil, ErrStopped
	default:
	}
	w := &Watch{feed: f, plan: plan, news: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.watches >= MaxWatches {
		return nil, ErrTooMany
	}
	f.watches++
	p := f.watched[plan]
	if p == nil {
		p = &watched{watches: map[*Watch]struct{}{}}
		f.watched[plan] = p
	}
	p.watches[w] = struct{}{}
	if p.state.Known {
		wake(w.news)
	}
	wake(f.look)
	return w, nil
}

// News gets a value when the state may have changed.
func (w *Watch) News() <-chan struct{} { return w.news }

// Ended is closed when the feed stops.
func (w *Watch) Ended() <-chan struct{} { return w.feed.stopping }

// State returns what is known now.
func (w *Watch) State() State {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	return w.feed.watched[w.plan].state
}

// Close ends the watch. It must be called once.
func (w *Watch) Close() {
	w.feed.mu.Lock()
	defer w.feed.mu.Unlock()
	w.feed.watches--
	p := w.feed.watched[w.plan]
	if delete(p.watches, w); len(p.watches) == 0 {
		delete(w.feed.watched, w.plan)
	}
}

// watch looks at the watched plans until the feed is closed.
func (f *Feed) watch() {
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	for {
		select {
		case <-f.look:
		case <-timer.C:
		case <-f.closing:
			return
		}
		if f.lookAtAll() {
			timer.Reset(lookEvery)
		}
		if !f.pause(lookPause) {
			return
		}
	}
}

// lookAtAll looks at the watched plans, and reports whether there are any.
func (f *Feed) lookAtAll() bool {
	f.mu.Lock()
	ids := slices.Sorted(maps.Keys(f.watched))
	f.mu.Unlock()
	if len(ids) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	for some := range slices.Chunk(ids, batch) {
		revisions, err := f.revisions(ctx, some)
		if err != nil {
			f.log.DebugContext(ctx, "watched plans: the database does not answer", "error", err)
			continue
		}
		for _, id := range some {
			revision, exists := revisions[id]
			state := State{Known: true, Gone: !exists, Revision: revision}
			if exists {
				if state.Locks, err = f.locks(ctx, id); err != nil {
					f.log.DebugContext(ctx, "watched plans: the locks are not known", "plan", id, "error", err)
					state.Locks = nil
				}
			}
			f.tell(id, state)
		}
	}
	return true
}

// tell wakes the watchers of a plan whose state is another one.
func (f *Feed) tell(plan int64, state State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.watched[plan]
	if p == nil {
		return
	}
	old := p.state
	if p.state = state; old.Known && old.Gone == state.Gone && old.Revision == state.Revision && bytes.Equal(old.Locks, state.Locks) {
		return
	}
	for w := range p.watches {
		wake(w.news)
	}
}

// Revision returns the count of a plan's changes. It is 0 for a plan that does not exist.
func (f *Feed) Revision(ctx context.Context, plan int64) (int64, error) {
	found, err := f.revisions(ctx, []int64{plan})
	return found[plan], err
}

// revisions returns the counters of those plans that exist.
func (f *Feed) revisions(ctx context.Context, plans []int64) (map[int64]int64, error) {
	var rows []struct{ ID, Changes int64 }
	if err := quiet(ctx, f.db.Read).Raw(`SELECT id, changes FROM plans WHERE id IN ?`, plans).Scan(&rows).Error; err != nil {
		return nil, err
	}
	found := make(map[int64]int64, len(rows))
	for _, row := range rows {
		found[row.ID] = row.Changes
	}
	return found, nil
}
