package simulation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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
	// since is when it began, if that is later than its fence tells.
	since    time.Time
	degraded bool             // it keeps nobody out
	until    func() time.Time // the end of its lease, as its process knows it
	ctx      context.Context  // of the lock
	ended    time.Time        // zero while it lasts
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
	// revoked are the scopes whose holds somebody else has ended or shortened, which their
	// processes learn later.
	revoked map[int]bool
	// refreshed are the scopes of holds that may end earlier than their processes were told.
	refreshed map[int]bool
	// kept are the calls, and the scopes, whose grants may outlive their process: they were
	// detached.
	kept map[string]bool
}

type grantee struct {
	tree  pathlock.Tree
	fence uint64
}

// conflict says whether two holds exclude each other.
func (h *hold) conflict(other *hold) bool {
	return h.scope != other.scope && !other.degraded && h.tree == other.tree && (h.gate || other.gate || modes.Exclude(h.claims, other.claims))
}

// latest returns the greatest fence that anybody has seen in a tree.
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
	h.ctx = ctx
	if o.revoked[h.scope] || ctx.Err() != nil {
		return
	}
	for _, other := range o.holds {
		if other.scope == h.scope && other.tree == h.tree && other.lives() && other.degraded != h.degraded {
			o.fail("%s and %s are of one scope, and the store knows one of them", h.name, other.name)
		}
	}
	if h.degraded {
		o.holds = append(o.holds, h)
		context.AfterFunc(ctx, func() { o.ended(h) })
		return
	}
	if granted := o.granted(h.tree, h.fence); granted.After(h.since) {
		h.since = granted
	}
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
		first, second := h, other
		if other.since.Before(h.since) {
			first, second = other, h
		}
		granted := second.since
		meet := first.ended.IsZero() && now.After(granted) || first.ended.After(granted)
		if !o.lossy && meet && h.conflict(other) {
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

// lives says whether somebody believes in the hold now.
func (h *hold) lives() bool { return h.ended.IsZero() && h.ctx.Err() == nil }

// revoke notes that somebody is about to end or to shorten the holds of a scope, whose process will
// learn of it. It returns them.
func (o *oracle) revoke(scope int) (revoked []*hold) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.revoked[scope] = true
	return o.end(func(h *hold) bool { return h.scope == scope })
}

// refresh notes that somebody sets the end of a scope's holds.
func (o *oracle) refresh(scope int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refreshed[scope] = true
}

// exchanging notes that what a hold relies on is about to change, for all of its scope.
func (o *oracle) exchanging(h *hold) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end(func(other *hold) bool { return other.scope == h.scope })
}

// end ends the live holds that match, and returns them. It expects mu to be locked.
func (o *oracle) end(match func(*hold) bool) (all []*hold) {
	for _, h := range o.holds {
		if h.ended.IsZero() && match(h) {
			h.ended = time.Now()
			all = append(all, h)
		}
	}
	return all
}

// keep notes that what a call or a scope was granted may outlive its process from now on.
func (o *oracle) keep(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept[what] = true
}

// isRevoked says whether somebody else has ended holds of a scope.
func (o *oracle) isRevoked(scope int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.revoked[scope]
}

// learn judges that the contexts of holds that were ended from outside end in time.
func (o *oracle) learn(all []*hold, within time.Duration) {
	time.AfterFunc(within, func() {
		for _, h := range all {
			if h.ctx.Err() == nil {
				o.fail("%s goes on %v after it was ended from outside", h.name, within)
			}
		}
	})
}

// forgot notes that the server has forgotten everything. A holder learns of it when its lease ends
// at the latest, or with the next renewal if that is answered.
func (o *oracle) forgot(lease, renewal time.Duration, answered func() bool) {
	o.mu.Lock()
	live := slices.DeleteFunc(slices.Clone(o.holds), func(h *hold) bool { return !h.lives() || h.degraded })
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

// finish notes that a call has ended without a grant, or has released it, or that a scope has
// nothing any more.
func (o *oracle) finish(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished[name] = time.Now()
}

// believed returns when live holds end, as their processes know it.
func (o *oracle) believed() map[*hold]time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := make(map[*hold]time.Time)
	for _, h := range o.holds {
		if h.lives() && !o.lossy && !h.degraded {
			all[h] = h.until()
		}
	}
	return all
}

// nameOf returns who asked for what a server has: a request of HTTP, or else a call.
func nameOf(e pathlock.Entry) string { return cmp.Or(e.Origin.RequestID, e.Note) }

// outlive judges that the server has all that a process believes in, and for as long. A time of the
// server has whole milliseconds.
func (o *oracle) outlive(believed map[*hold]time.Time, s pathlock.Snapshot, ends func(time.Time) time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for h, until := range believed {
		if h.tree != s.Tree || !h.lives() {
			continue
		}
		if !until.After(time.Now()) {
			o.fail("%s goes on, and its lease was to end at %v", h.name, until)
		}
		var has []pathlock.Claim
		gate := false
		for _, e := range s.Holders {
			if nameOf(e) == h.name && !o.refreshed[h.scope] && until.After(ends(e.Until).Add(time.Millisecond)) {
				o.fail("%s believes in its lease until %v, the server until %v", nameOf(e), until, ends(e.Until))
			}
			if scopeOf(e) == h.scope {
				gate = gate || e.Gate
				has = append(has, e.Claims...)
			}
		}
		lacks := func(c pathlock.Claim) bool { return !modes.Cover(has, c) }
		if !gate && (h.gate || slices.ContainsFunc(h.claims, lacks)) {
			o.fail("%s relies on %v, and the server has %v", h.name, h.claims, has)
		}
	}
}

// look judges what the server has: nothing of an instance whose last lease is over, and nothing for
// a call or a scope of a live instance that was over before the given moment.
func (o *oracle) look(s pathlock.Snapshot, gone func(instance string) (gone, over bool), calls, scopes time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range slices.Concat(s.Holders, s.Waiters) {
		what := fmt.Sprintf("%s of %s, until %v", nameOf(e), e.Origin.Instance, e.Until)
		gone, over := gone(e.Origin.Instance)
		kept := o.kept[nameOf(e)] || !strings.HasPrefix(nameOf(e), partMark) && o.kept[fmt.Sprint(scopeOf(e))]
		if over && !kept {
			o.fail("a lease after its instance was gone, there is %s", what)
		}
		for name, before := range map[string]time.Time{nameOf(e): calls, fmt.Sprint(scopeOf(e)): scopes} {
			if at, finished := o.finished[name]; finished && !gone && at.Before(before) {
				o.fail("over at %v, and still there: %s", at, what)
			}
		}
	}
}
