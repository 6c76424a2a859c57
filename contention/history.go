package contention

import (
	"cmp"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// History is what a [Recorder] remembers, at one moment. Times are by the clock of this process,
// except for those of blockers.
type History struct {
	// At is the moment, and Since when the recorder began.
	At, Since time.Time
	// Version is [Recorder.Version].
	Version uint64
	// Capacity is how many episodes are kept, and Dropped how many were forgotten for newer ones.
	Capacity, Dropped int
	// Episodes are those that are kept, the latest first.
	Episodes []Episode
}

// Episode is a stall: the time during which requests of this process waited at one place of one
// tree. Waits that begin within a second after the last one has ended belong to the same episode.
type Episode struct {
	// ID grows with every episode of the recorder.
	ID   uint64
	Tree pathlock.Tree
	// Path is the node at which the requests met what was in the way, in the folded form that the
	// store knows. Mode is the strongest mode that was in the way there. Gate says that they met at
	// the tree's gate.
	Path pathlock.Path
	Mode pathlock.Mode
	Gate bool
	// Began is when the first wait began, and Ended when the last one ended, zero while one goes
	// on.
	Began, Ended time.Time
	// Waits is how many requests waited, MostWaiting how many at once, and TimedOut how many of
	// them in vain. A wait counts for MostWaiting once a look has shown where it waits, or its end
	// has: of several that begin and end between two looks, it may count fewer than there were.
	Waits, MostWaiting, TimedOut int
	// Waited is the time that all of them waited, taken together, and Longest that of the one that
	// waited longest. Those that still wait count until now.
	Waited, Longest time.Duration
	// Blockers are those who were in the way, who cost the most time first. MoreBlocked is how many
	// waits were for others beyond the 32 that are told apart.
	Blockers    []Blocker
	MoreBlocked int
	// Waiters are the 16 longest waits, the longest first.
	Waiters []Waiter

	routes []Route
}

// Blocker is who was in the way.
type Blocker struct {
	Owner    pathlock.Owner
	Note     string
	Origin   pathlock.Origin
	Detached bool
	Gate     bool
	// Waiting says that the blocker did not hold yet, but came earlier.
	Waiting bool
	// Path and Mode are what the blocker had at the place, or waited for.
	Path pathlock.Path
	Mode pathlock.Mode
	// Fence is that of the blocker's grant, 0 if it is not known.
	Fence uint64
	// Since and Until are those of the blocker's hold when it was seen first, by the store's clock.
	Since, Until time.Time
	// Waits is how many requests waited for this blocker, and Waited how long, taken together.
	Waits  int
	Waited time.Duration
}

// Waiter is a request that waited.
type Waiter struct {
	Owner  pathlock.Owner
	Note   string
	Origin pathlock.Origin
	// Path is where it waited, and Mode what was in the way there.
	Path    pathlock.Path
	Mode    pathlock.Mode
	Began   time.Time
	Waited  time.Duration
	Outcome Outcome
}

// Route is what the episodes say about one route, or about an operation that came by none.
type Route struct {
	// Name is [pathlock.Origin.Route], or else the operation. It is "" where both are unknown, and
	// "…" for the routes beyond the 64 that an episode tells apart.
	Name string
	// Waits is how many of its requests waited, Waited how long, taken together, and Longest how
	// long one of them did.
	Waits           int
	Waited, Longest time.Duration
	// CausedWaits is how many requests waited for requests of the route, and Caused how long.
	CausedWaits int
	Caused      time.Duration
	// Last is when anything of this happened last.
	Last time.Time
}

// Place is what the episodes say about one place.
type Place struct {
	Tree pathlock.Tree
	Path pathlock.Path
	Gate bool
	// Episodes is how many there were, and the rest sums up theirs.
	Episodes, Waits, MostWaiting int
	Waited, Longest              time.Duration
	Last                         time.Time
}

// History returns what is remembered now.
func (r *Recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	h := History{
		At: now, Since: r.book.since, Version: r.book.version, Capacity: r.book.capacity, Dropped: r.book.dropped,
		Episodes: make([]Episode, 0, len(r.book.episodes)),
	}
	for _, e := range r.book.episodes {
		h.Episodes = append(h.Episodes, e.asOf(now))
	}
	slices.SortStableFunc(h.Episodes, Last.episodes)
	return h
}

// asOf returns the episode as it is now.
func (e *episode) asOf(now time.Time) Episode {
	got := Episode{
		ID: e.id, Tree: e.place.tree, Path: e.place.path, Mode: e.mode, Gate: e.place.gate, Began: e.began,
		Waits: e.waits, MostWaiting: e.mostWaiting, TimedOut: e.timedOut, Waited: e.waited, Longest: e.longest,
		MoreBlocked: e.moreBlocked, Waiters: slices.Clone(e.waiters),
	}
	if len(e.open) == 0 {
		got.Ended = e.lastEnd
	}
	routes := make(map[string]Route, len(e.routes))
	for name, r := range e.routes {
		routes[name] = *r
	}
	owed := make(map[*blocker]time.Duration)
	for w := range e.open {
		waited := now.Sub(w.began)
		got.Waited += waited
		got.Longest = max(got.Longest, waited)
		got.Waiters = append(got.Waiters, w.waiter(Waits, now))
		suffered := routes[e.route(route(w.origin)).Name]
		suffered.Waited += waited
		suffered.Longest, suffered.Last = max(suffered.Longest, waited), now
		routes[suffered.Name] = suffered
		if w.blocker != nil {
			since := now.Sub(w.charged)
			owed[w.blocker] += since
			caused := routes[e.route(route(w.blocker.hold.Origin)).Name]
			caused.Caused += since
			caused.Last = now
			routes[caused.Name] = caused
		}
	}
	slices.SortFunc(got.Waiters, longestFirst)
	got.Waiters = got.Waiters[:min(len(got.Waiters), mostWaiters)]
	for _, b := range e.blockers {
		got.Blockers = append(got.Blockers, b.asOf(owed[b]))
	}
	slices.SortStableFunc(got.Blockers, func(a, b Blocker) int { return cmp.Compare(b.Waited, a.Waited) })
	for _, r := range routes {
		got.routes = append(got.routes, r)
	}
	return got
}

// asOf returns the blocker with what is not charged to it yet.
func (b *blocker) asOf(owed time.Duration) Blocker {
	h := b.hold
	return Blocker{
		Owner: h.Owner, Note: h.Note, Origin: h.Origin, Detached: h.Detached, Gate: h.Gate, Waiting: b.waiting,
		Path: b.path, Mode: b.mode, Fence: h.Fence, Since: h.Since, Until: h.Until,
		Waits: b.waits, Waited: b.waited + owed,
	}
}
