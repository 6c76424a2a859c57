package simulation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/proof/modes"
)

// hold is a lock that somebody believes in: from the moment that its fence names until its context
// ends or its release begins.
type hold struct {
	name   string
	scope  int // holds of one scope do not conflict
	tree   pathlock.Tree
	gate   bool
	claims []pathlock.Claim
	fence  uint64
	until  func() time.Time // the end of its lease, as its process knows it
	ended  time.Time        // zero while it lasts
}

// oracle judges what the instances see. It knows nothing of their code.
type oracle struct {
	fail func(format string, args ...any)
	// granted returns when the server gave out a fence.
	granted func(tree pathlock.Tree, fence uint64) time.Time

	// lossy says that leases may end early, and that the clock behind the fences jumps.
	lossy bool

	mu    sync.Mutex
	holds []*hold
	// fences has the greatest fence that anybody has been told, by tree.
	fences map[pathlock.Tree]uint64
	// finished are the calls that ended without a grant, or have released it, and when they did.
	finished map[string]time.Time
	grants   int
	// grantees has whose scope got a fence.
	grantees map[grantee]int
}

type grantee struct {
	tree  pathlock.Tree
	fence uint64
}

// conflict says whether two holds exclude each other.
func (h *hold) conflict(other *hold) bool {
	return h.scope != other.scope && h.tree == other.tree && (h.gate || other.gate || modes.Exclude(h.claims, other.claims))
}

// latest returns the greatest fence that anybody has been told of in a tree.
func (o *oracle) latest(tree pathlock.Tree) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.fences[tree]
}

// began notes a grant. before is the latest fence when it was asked for, and 0 if it relies on an
// earlier grant.
func (o *oracle) began(ctx context.Context, h *hold, before uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.grants++
	if !o.lossy && before > 0 && h.fence <= before {
		o.fail("%s got fence %d, and %d was known when it asked", h.name, h.fence, before)
	}
	as := grantee{h.tree, h.fence}
	if first := o.grantees[as]; first != 0 && first != h.scope && !o.lossy {
		o.fail("%s got fence %d, which somebody else has", h.name, h.fence)
	}
	o.grantees[as] = h.scope
	o.fences[h.tree] = max(o.fences[h.tree], h.fence)
	now := time.Now()
	for _, other := range o.holds {
		if o.lossy || !h.conflict(other) {
			continue
		}
		first, second := h, other
		if other.fence < h.fence {
			first, second = other, h
		}
		if granted := o.granted(second.tree, second.fence); first.ended.IsZero() && now.After(granted) || first.ended.After(granted) {
			o.fail("%s (fence %d) ended at %v, and %s (fence %d) was granted at %v", first.name, first.fence, first.ended, second.name, second.fence, granted)
		}
	}
	o.holds = append(o.holds, h)
	if len(o.holds) > 100 { // those that have ended long ago meet nobody
		o.holds = slices.DeleteFunc(o.holds, func(h *hold) bool { return !h.ended.IsZero() && now.Sub(h.ended) > time.Hour })
	}
	context.AfterFunc(ctx, func() { o.ended(h) })
}

// ended notes that a hold has ended.
func (o *oracle) ended(h *hold) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if h.ended.IsZero() {
		h.ended = time.Now()
	}
}

// forgot notes that the server has forgotten everything. A holder learns of it when its lease ends
// at the latest, or with the next renewal if that is answered.
func (o *oracle) forgot(lease, renewal time.Duration, answered func() bool) {
	o.mu.Lock()
	live := slices.DeleteFunc(slices.Clone(o.holds), func(h *hold) bool { return !h.ended.IsZero() })
	o.mu.Unlock()
	check := func(after time.Duration, applies func() bool) {
		time.AfterFunc(after, func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			for _, h := range live {
				if h.ended.IsZero() && applies() {
					o.fail("%s is still held %v after the server has forgotten it", h.name, after)
				}
			}
		})
	}
	check(lease+time.Second, func() bool { return true })
	check(renewal, answered)
}

// finish notes that a call has ended without a grant, or has released it.
func (o *oracle) finish(note string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished[note] = time.Now()
}

// believed returns when live holds end, by their names, as their processes know it.
func (o *oracle) believed() map[string]time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make(map[string]time.Time)
	for _, h := range o.holds {
		if h.ended.IsZero() && !o.lossy {
			all[h.name] = h.until()
		}
	}
	return all
}

// nameOf returns who asked for what a server has: a request of HTTP, or else a call.
func nameOf(e pathlock.Entry) string { return cmp.Or(e.Origin.RequestID, e.Note) }

// outlive judges that no process believes in a lease for longer than the server does. A time of the
// server has whole milliseconds.
func (o *oracle) outlive(believed map[string]time.Time, s pathlock.Snapshot, ends func(time.Time) time.Time) {
	for _, e := range s.Holders {
		if until, live := believed[nameOf(e)]; live && until.After(ends(e.Until).Add(time.Millisecond)) {
			o.fail("%s believes in its lease until %v, the server until %v", nameOf(e), until, ends(e.Until))
		}
	}
}

// look judges what the server has: nothing of an instance whose last lease is over, and nothing for
// a call of a live instance that was over before the given moment.
func (o *oracle) look(s pathlock.Snapshot, gone func(instance string) (gone, over bool), finishedBefore time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range slices.Concat(s.Holders, s.Waiters) {
		what := fmt.Sprintf("%s of %s, until %v", nameOf(e), e.Origin.Instance, e.Until)
		gone, over := gone(e.Origin.Instance)
		if over && !e.Detached {
			o.fail("a lease after its instance was gone, there is %s", what)
		}
		if at, finished := o.finished[nameOf(e)]; finished && !gone && at.Before(finishedBefore) {
			o.fail("over at %v, and still there: %s", at, what)
		}
	}
}
