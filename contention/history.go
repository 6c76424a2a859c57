package contention

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pathlock-go/pathlock"
)

// History is what a [Recorder] remembers, at one moment.
type History struct {
	// Since is when the recorder began.
	Since time.Time
	// Capacity is how many waits are kept, and Dropped how many made room for later ones.
	Capacity, Dropped int
	// Waits are those that are kept, the last one to end first.
	Waits []Wait
}

// Wait is one request that had to wait. Times are by the clock of this process, except for those of
// the blocker.
type Wait struct {
	Tree   pathlock.Tree
	Owner  pathlock.Owner
	Note   string
	Origin pathlock.Origin
	// Path is the contested node, and Mode the mode that the request wanted there, 0 if it wanted
	// the gate. Gate says that the request or its blocker asked for the tree's gate.
	Path pathlock.Path
	Mode pathlock.Mode
	Gate bool
	// Began and Ended are its time.
	Began, Ended time.Time
	// Outcome says how it ended: "granted"; "timed-out", when others held on for longer than the
	// request could wait; "cancelled", when whoever asked gave up; "deadlock", when the wait would
	// never have ended; and "failed", as when the store could not be reached.
	Outcome string
	// Blocker is one of its blockers, zero if none is known.
	Blocker pathlock.Blocker
}

// outcomeOf returns how a wait that led to err ended.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "granted"
	case errors.Is(err, pathlock.ErrDeadlock):
		return "deadlock"
	case errors.Is(err, pathlock.ErrConflict), errors.Is(err, context.DeadlineExceeded):
		return "timed-out"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	default:
		return "failed"
	}
}

// History returns what is remembered now.
func (r *recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := History{Since: r.since, Capacity: r.config.Capacity, Dropped: r.dropped, Waits: slices.Clone(r.ended)}
	slices.Reverse(h.Waits)
	return h
}

// keep remembers a wait that has ended. The caller has locked r.mu.
func (r *recorder) keep(w Wait) {
	if len(r.ended) == r.config.Capacity {
		r.ended = slices.Delete(r.ended, 0, 1)
		r.dropped++
	}
	r.ended = append(r.ended, w)
}

// newWait describes a request that begins to wait. Until more is known, it waits at the strongest
// of its claims.
func newWait(e pathlock.Event, now time.Time) *Wait {
	w := &Wait{Tree: e.Tree, Owner: e.Owner, Note: e.Note, Origin: e.Origin, Gate: e.Gate, Path: pathlock.Root(), Began: now}
	if !e.Gate && len(e.Claims) > 0 {
		strongest := slices.MaxFunc(e.Claims, func(a, b pathlock.Claim) int { return int(a.Mode) - int(b.Mode) })
		w.Path, w.Mode = strongest.Path, strongest.Mode
	}
	return w
}

// blame records who blocks the wait, by a snapshot that has the wait as an entry.
func (w *Wait) blame(self pathlock.Entry, by pathlock.Blocking) {
	e := by.Entry
	w.Path, w.Mode, w.Gate = by.Path, 0, w.Gate || e.Gate
	if i := slices.IndexFunc(self.Claims, func(c pathlock.Claim) bool { return c.Path == by.Path }); i >= 0 {
		w.Mode = self.Claims[i].Mode
	}
	w.Blocker = pathlock.Blocker{
		Owner: e.Owner, Note: e.Note, Origin: e.Origin, Gate: e.Gate, Mode: by.Mode, Waiting: by.Waiting, Since: e.Since, Until: e.Until,
	}
}

// end records how the wait ended. A refusal says who blocked it at the end.
func (w *Wait) end(err error, now time.Time) {
	w.Ended, w.Outcome = now, outcomeOf(err)
	if conflict, ok := errors.AsType[*pathlock.ConflictError](err); ok && !conflict.Blocker.IsZero() {
		w.Path, w.Mode, w.Gate, w.Blocker = conflict.Path, conflict.Mode, conflict.Gate, conflict.Blocker
	}
}
