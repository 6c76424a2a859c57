package contention

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Bounds of one episode.
const (
	// linger is how soon after the last wait at a place another one belongs to the same episode.
	linger = time.Second
	// mostBlockers is how many of those in the way are told apart, and mostWaiters how many of the
	// longest waits are kept.
	mostBlockers = 32
	mostWaiters  = 16
	// mostRoutes is how many routes are told apart; the others are summed up under one name.
	mostRoutes  = 64
	otherRoutes = "…"
)

// place is where requests wait.
type place struct {
	tree pathlock.Tree
	path pathlock.Path
	gate bool
}

// book has the episodes. The recorder's mutex guards it.
type book struct {
	capacity int
	since    time.Time
	version  uint64
	lastID   uint64
	dropped  int
	episodes []*episode // in the order in which they were noticed
	latest   map[place]*episode
}

func newBook(capacity int, now time.Time) book {
	return book{capacity: capacity, since: now, latest: make(map[place]*episode)}
}

// episode is an [Episode] in the making.
type episode struct {
	id          uint64
	place       place
	mode        pathlock.Mode
	began       time.Time
	lastEnd     time.Time
	open        map[*wait]struct{}
	waits       int
	mostWaiting int
	timedOut    int
	waited      time.Duration // of the waits that have ended
	longest     time.Duration // of these
	blockers    []*blocker
	moreBlocked int // waits on blockers beyond those
	waiters     []Waiter
	routes      map[string]*Route
}

// blocker is a [Blocker] in the making.
type blocker struct {
	hold    pathlock.Entry
	waiting bool
	path    pathlock.Path
	mode    pathlock.Mode
	waits   int
	waited  time.Duration
}

// is reports whether b is about the same hold.
func (b *blocker) is(h pathlock.Entry, waiting bool) bool {
	return b.hold.Owner == h.Owner && b.hold.Fence == h.Fence && b.waiting == waiting
}

// blame notes that a wait is blocked, from its beginning or from the last look on.
func (b *book) blame(w *wait, by pathlock.Blocking, now time.Time) {
	b.version++
	if w.episode == nil {
		b.join(w, place{tree: w.tree, path: by.Path, gate: by.Entry.Gate}, by.Mode, now)
		w.blocker = w.episode.blockerOf(by)
		b.begin(w)
		return
	}
	b.charge(w, now)
	if next := w.episode.blockerOf(by); next != w.blocker {
		w.blocker = next
		b.begin(w)
	}
}

// begin counts a wait for its present blocker.
func (b *book) begin(w *wait) {
	if w.blocker == nil {
		w.episode.moreBlocked++
		return
	}
	w.blocker.waits++
	w.episode.route(route(w.blocker.hold.Origin)).CausedWaits++
}

// charge charges the time since the last look to the blocker that was seen then.
func (b *book) charge(w *wait, now time.Time) {
	if w.blocker != nil {
		w.blocker.waited += now.Sub(w.charged)
		r := w.episode.route(route(w.blocker.hold.Origin))
		r.Caused += now.Sub(w.charged)
		r.Last = now
	}
	w.charged = now
}

// join makes a wait part of the episode at a place, or of a new one.
func (b *book) join(w *wait, at place, mode pathlock.Mode, now time.Time) {
	e := b.latest[at]
	if e == nil || len(e.open) == 0 && w.began.Sub(e.lastEnd) > linger {
		e = b.open(at, w.began)
	}
	if w.began.Before(e.began) {
		e.began = w.began
	}
	if mode > e.mode {
		e.mode = mode
	}
	w.episode, w.where, w.mode = e, at, mode
	e.open[w] = struct{}{}
	e.waits++
	e.mostWaiting = max(e.mostWaiting, len(e.open))
	r := e.route(route(w.origin))
	r.Waits++
	r.Last = now
	b.version++
}

// open begins an episode, and forgets the oldest one that is over where there are too many.
func (b *book) open(at place, began time.Time) *episode {
	if len(b.episodes) >= b.capacity {
		i := max(slices.IndexFunc(b.episodes, func(e *episode) bool { return len(e.open) == 0 }), 0)
		if gone := b.episodes[i]; b.latest[gone.place] == gone {
			delete(b.latest, gone.place)
		}
		b.episodes = slices.Delete(b.episodes, i, i+1)
		b.dropped++
	}
	b.lastID++
	e := &episode{
		id: b.lastID, place: at, began: began,
		open: make(map[*wait]struct{}), routes: make(map[string]*Route),
	}
	b.episodes = append(b.episodes, e)
	b.latest[at] = e
	return e
}

// joinUnseen makes a wait part of an episode that no look has explained: of the one where its
// refusal says that it waited, or of one that goes on where it had to pass.
func (b *book) joinUnseen(w *wait, err error, fold func(string) string, now time.Time) {
	if conflict, ok := errors.AsType[*pathlock.ConflictError](err); ok && !conflict.Blocker.IsZero() {
		by := conflict.Blocker
		at := place{tree: w.tree, path: folded(conflict.Path, fold), gate: conflict.Gate || by.Gate}
		if at.gate {
			at.path = pathlock.Root()
		}
		b.join(w, at, by.Mode, now)
		w.blocker = w.episode.blockerOf(pathlock.Blocking{
			Entry:   &pathlock.Entry{Owner: by.Owner, Note: by.Note, Origin: by.Origin, Gate: by.Gate, Detached: by.Owner.Detached(), Since: by.Since, Until: by.Until},
			Waiting: by.Waiting, Path: at.path, Mode: by.Mode,
		})
		b.begin(w)
		return
	}
	at, mode := w.target(fold)
	for i := len(b.episodes) - 1; i >= 0; i-- {
		e := b.episodes[i]
		if e.place.tree == w.tree && (len(e.open) > 0 || w.began.Before(e.lastEnd)) && e.place.meets(at) {
			at, mode = e.place, e.mode
			break
		}
	}
	b.join(w, at, mode, now)
}

// meets reports whether requests for two places of one tree are in each other's way.
func (p place) meets(other place) bool {
	return p.gate || other.gate || p.path.Contains(other.path) || other.path.Contains(p.path)
}

// leave ends a wait.
func (b *book) leave(w *wait, outcome Outcome, now time.Time) {
	b.version++
	e := w.episode
	b.charge(w, now)
	delete(e.open, w)
	e.lastEnd = now
	if outcome == TimedOut {
		e.timedOut++
	}
	took := now.Sub(w.began)
	e.waited += took
	e.longest = max(e.longest, took)
	r := e.route(route(w.origin))
	r.Waited += took
	r.Longest = max(r.Longest, took)
	r.Last = now
	e.keep(w.waiter(outcome, now))
}

// keep keeps a waiter that is among those that waited longest.
func (e *episode) keep(w Waiter) {
	if len(e.waiters) < mostWaiters {
		e.waiters = append(e.waiters, w)
		return
	}
	i, shortest := 0, e.waiters[0].Waited
	for j, other := range e.waiters {
		if other.Waited < shortest {
			i, shortest = j, other.Waited
		}
	}
	if w.Waited > shortest {
		e.waiters[i] = w
	}
}

// blockerOf returns who is in the way, nil if there are too many to tell them apart.
func (e *episode) blockerOf(by pathlock.Blocking) *blocker {
	for _, b := range e.blockers {
		// A refusal knows no fence.
		if b.is(*by.Entry, by.Waiting) || by.Entry.Fence == 0 && b.hold.Owner == by.Entry.Owner && b.waiting == by.Waiting {
			return b
		}
	}
	if len(e.blockers) == mostBlockers {
		return nil
	}
	hold := *by.Entry
	hold.Claims = nil // hundreds of nodes, which nobody reads
	b := &blocker{hold: hold, waiting: by.Waiting, path: by.Path, mode: by.Mode}
	e.blockers = append(e.blockers, b)
	return b
}

// route returns the sums of a route.
func (e *episode) route(name string) *Route {
	r := e.routes[name]
	if r == nil && len(e.routes) >= mostRoutes {
		name = otherRoutes
		r = e.routes[name]
	}
	if r == nil {
		r = &Route{Name: name}
		e.routes[name] = r
	}
	return r
}

// waiter describes a wait until now.
func (w *wait) waiter(outcome Outcome, now time.Time) Waiter {
	return Waiter{
		Owner: w.owner, Note: w.note, Origin: w.origin, Path: w.where.path, Mode: w.mode,
		Began: w.began, Waited: now.Sub(w.began), Outcome: outcome,
	}
}

// longestFirst orders waiters.
func longestFirst(a, b Waiter) int {
	return cmp.Or(cmp.Compare(b.Waited, a.Waited), a.Began.Compare(b.Began))
}
