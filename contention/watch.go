package contention

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

const (
	// leastPause is the least time between two snapshots, of whichever trees.
	leastPause = 50 * time.Millisecond
	// longestPause is the longest time between two snapshots of a tree in which somebody waits.
	longestPause = 30 * time.Second
	// lookTimeout is how long a snapshot may take.
	lookTimeout = 2 * time.Second
	// mostPerLook is how many waits one snapshot explains. The next one explains others.
	mostPerLook = 256
)

// stall is a tree in which waits that have reached the threshold last.
type stall struct {
	waits map[*wait]struct{}
	// at is when to look at the tree next, and last when that was done.
	at, last time.Time
	pause    time.Duration
}

// watch finds the waits that reach the threshold, and looks at their trees, until ctx ends.
func (r *Recorder) watch(ctx context.Context) {
	defer close(r.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		tree, next := r.due(time.Now())
		if !tree.IsZero() {
			r.look(ctx, tree)
			continue
		}
		timer.Stop()
		if !next.IsZero() {
			timer.Reset(time.Until(next))
		}
		select {
		case <-ctx.Done():
		case <-r.wake:
		case <-timer.C:
		}
	}
}

// due returns a tree to look at now. If there is none, it returns when to ask again, zero if
// nothing waits.
func (r *Recorder) due(now time.Time) (tree pathlock.Tree, next time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ripen(now)
	if len(r.fresh) > 0 {
		next = r.fresh[0].began.Add(r.config.Threshold)
	}
	for t, s := range r.stalls {
		at := s.at
		if at.Before(r.nextLook) {
			at = r.nextLook
		}
		if tree.IsZero() && !at.After(now) || !tree.IsZero() && s.at.Before(r.stalls[tree].at) {
			tree = t
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return tree, next
}

// ripen moves the waits that have reached the threshold to the stalls of their trees.
func (r *Recorder) ripen(now time.Time) {
	ripe := 0
	for _, w := range r.fresh {
		if !w.over && now.Sub(w.began) < r.config.Threshold {
			break
		}
		ripe++
		if w.over {
			continue
		}
		w.keep()
		s := r.stalls[w.tree]
		if s == nil {
			s = &stall{waits: make(map[*wait]struct{}), at: now}
			r.stalls[w.tree] = s
		}
		s.waits[w] = struct{}{}
		s.pause = r.config.LookEvery
		if soon := s.last.Add(s.pause); soon.Before(s.at) {
			s.at = soon
		}
	}
	r.fresh = append(r.fresh[:0], r.fresh[ripe:]...)
	clear(r.fresh[len(r.fresh):cap(r.fresh)])
}

// look learns from a snapshot who is in the way of those that wait in a tree.
func (r *Recorder) look(ctx context.Context, tree pathlock.Tree) {
	waits := r.waitsIn(tree)
	ctx, stop := context.WithTimeout(ctx, lookTimeout)
	defer stop()
	snapshot, err := r.snapshot(ctx, tree)
	if err != nil {
		r.config.Log.LogAttrs(ctx, slog.LevelDebug, "contention: no snapshot",
			slog.String("tree", tree.String()), slog.Any("error", err))
	}
	blocked := explain(snapshot, waits)
	r.looked(tree, blocked, time.Now())
}

// snapshot asks the store. A store that panics has failed.
func (r *Recorder) snapshot(ctx context.Context, tree pathlock.Tree) (s pathlock.Snapshot, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			s, err = pathlock.Snapshot{}, fmt.Errorf("contention: the store panicked: %v", cause)
		}
	}()
	return r.looks.Snapshot(ctx, tree)
}

// waitsIn returns the waits of a tree that a look is for, unexplained ones first.
func (r *Recorder) waitsIn(tree pathlock.Tree) []*wait {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stalls[tree]
	if s == nil {
		return nil
	}
	var unexplained, explained []*wait
	for w := range s.waits {
		if w.episode == nil {
			unexplained = append(unexplained, w)
		} else {
			explained = append(explained, w)
		}
	}
	all := slices.Concat(unexplained, explained)
	return all[:min(len(all), mostPerLook)]
}

// explain returns who is in the way of each wait that the snapshot still has.
func explain(s pathlock.Snapshot, waits []*wait) map[*wait]pathlock.Blocking {
	blockers := s.Blockers()
	places := make(map[pathlock.Owner][]int, len(s.Waiters))
	for i, h := range s.Waiters {
		places[h.Owner] = append(places[h.Owner], i)
	}
	blocked := make(map[*wait]pathlock.Blocking, len(waits))
	for _, w := range waits {
		for _, i := range places[w.owner] {
			h := s.Waiters[i]
			if len(places[w.owner]) > 1 && (h.Note != w.note || h.Gate != w.gate) {
				continue // another request of the same owner
			}
			if b, ok := foremost(blockers[i]); ok {
				blocked[w] = b
				break
			}
		}
	}
	return blocked
}

// foremost returns the first holder among those in the way, or else the first waiter.
func foremost(all []pathlock.Blocking) (pathlock.Blocking, bool) {
	for _, b := range all {
		if !b.Waiting {
			return b, true
		}
	}
	if len(all) == 0 {
		return pathlock.Blocking{}, false
	}
	return all[0], true
}

// looked notes what a look has shown, and plans the next one.
func (r *Recorder) looked(tree pathlock.Tree, blocked map[*wait]pathlock.Blocking, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for w, b := range blocked {
		if !w.over {
			r.book.blame(w, b, now)
		}
	}
	r.nextLook = now.Add(leastPause)
	if s := r.stalls[tree]; s != nil {
		s.last, s.at = now, now.Add(s.pause)
		s.pause = min(2*s.pause, max(longestPause, r.config.LookEvery))
	}
}
