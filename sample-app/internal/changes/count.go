package changes

import (
	"context"
	"maps"
	"slices"
	"time"
)

// countAgain is the pause after a count that failed.
const countAgain = 2 * time.Second

// batch is the largest number of ids in one statement.
const batch = 500

// count adds the changes of this instance to the plans' counters until the feed is closed.
func (f *Feed) count() {
	for open := true; open; {
		select {
		case <-f.marked:
		case <-f.closing:
			open = false
		}
		next := countEvery
		if err := f.countMarks(); err != nil {
			f.log.Warn("watchers may miss changes until the database answers", "error", err)
			next = countAgain
			wake(f.marked)
		}
		wake(f.look)
		open = open && f.pause(next)
	}
	// What was marked during the last pause.
	if err := f.countMarks(); err != nil {
		f.log.Warn("the last changes are not counted", "error", err)
	}
}

// countMarks counts what is marked. After an error, what is not counted is marked again.
func (f *Feed) countMarks() error {
	f.mu.Lock()
	plans, suites := f.plans, f.suites
	f.plans, f.suites = map[int64]struct{}{}, map[int64]struct{}{}
	f.mu.Unlock()
	if len(plans)+len(suites) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	err := f.addPlansOf(ctx, suites, plans)
	for id := range plans {
		if err != nil {
			break
		}
		// A statement for each: two instances never hold one row and wait for another.
		if err = quiet(ctx, f.db.Write).Exec(`UPDATE plans SET changes = changes + 1 WHERE id = ?`, id).Error; err == nil {
			delete(plans, id)
		}
	}
	if err != nil {
		f.mu.Lock()
		maps.Copy(f.plans, plans)
		maps.Copy(f.suites, suites)
		f.mu.Unlock()
	}
	return err
}

// addPlansOf adds the plans of suites, and removes the suites whose plans it has found.
func (f *Feed) addPlansOf(ctx context.Context, suites, plans map[int64]struct{}) error {
	for some := range slices.Chunk(slices.Collect(maps.Keys(suites)), batch) {
		var found []int64
		err := quiet(ctx, f.db.Read).Raw(`SELECT DISTINCT plan_id FROM suites WHERE id IN ?`, some).Scan(&found).Error
		if err != nil {
			return err
		}
		for _, id := range found {
			plans[id] = struct{}{}
		}
		for _, id := range some {
			delete(suites, id)
		}
	}
	return nil
}
