package pathlock

import (
	"context"
	"slices"
	"time"
)

// holding is what one scope holds in one tree: its grants, which share a lease, and the locks that
// rely on them. Its scope's mutex guards it.
type holding struct {
	scope *Scope
	tree  Tree
	// renewer looks after the lease, and observers hear of its loss, as their log does.
	renewer   *renewer
	observers *observers

	grants []*grant
	locks  []*Lock // each knows its index
	// lost is why the lease ended early; nil while it lives.
	lost error
	// detaching says that the only lock is being detached.
	detaching bool

	// token names a hold that has been attached; others may end it at any time, or set another end.
	token Token
	// unrenewed says that it keeps the end that it has.
	unrenewed bool
	// parts are what has been acquired under it with a lease of its own: see apart.go.
	parts []*holding
	// base is the holding that this one is a part of, nil for one that stands alone. relied are the
	// grants of base that the part keeps it alive by.
	base   *holding
	relied []*grant
	// apart is the grant that a part consists of.
	apart GrantID
	// spent says that the lock which Attach returned has been released, and with it the hold: it
	// ends for everybody when the last lock goes that this process has on it.
	spent bool

	// term and place are the renewer's, and guarded by its mutex.
	term  term
	place place
	// ends is the end of the term, for those who have not got the mutex.
	ends deadline
}

// isShared reports whether others may set another end of the hold's lease.
func (h *holding) isShared() bool { return h.token != "" && h.base == nil }

// isOfToken reports whether a token names the hold, or what it is a part of.
func (h *holding) isOfToken() bool { return h.token != "" }

// whyLost returns the error of those whose hold has been lost, nil while it lives.
func (h *holding) whyLost() error {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	return h.lost
}

// held returns the grants that there are at the moment.
func (h *holding) held() []*grant {
	h.scope.mu.Lock()
	defer h.scope.mu.Unlock()
	return slices.Clone(h.grants)
}

// covering appends grants to pins that together give everything that a asks for, the oldest that
// will do for each claim, and returns them; none if something is missing.
//
// Only single grants are looked at for a claim. An S of one grant and an IX of another make an SIX
// that the store knows of, and a request for it simply asks the store.
func (h *holding) covering(a asked, pins []*grant) []*grant {
	grants := h.grants
	if h.base != nil {
		grants = slices.Concat(h.base.grants, h.grants)
	}
	if a.Gate {
		i := slices.IndexFunc(grants, func(g *grant) bool { return g.gate && !g.borrowed })
		if i < 0 {
			return nil
		}
		pins = append(pins, grants[i])
	}
	for _, c := range a.folded {
		i := slices.IndexFunc(grants, func(g *grant) bool { return g.covers(c) })
		if i < 0 {
			return nil
		}
		if !slices.Contains(pins, grants[i]) {
			pins = append(pins, grants[i])
		}
	}
	return pins
}

// attach makes lock, which relies on its pins, one of the holding's. watched says whether anybody
// wants to know how long it is held. Nothing of anybody else's is called here: the grant has no
// lock yet that could give it back.
func (h *holding) attach(ctx context.Context, req Request, lock *Lock, watched bool) {
	// The caller may use its slice again, and nobody but an observer asks a lock for its claims.
	if h.observers.none() {
		req.Claims = nil
	} else {
		req.Claims = slices.Clone(req.Claims)
	}
	lock.holding, lock.request = h, req
	if watched {
		lock.since = time.Now()
	}
	for _, g := range lock.pins {
		g.pins++
		lock.fence = max(lock.fence, g.fence)
	}
	lock.ctx.parent, lock.ctx.holding = ctx, h
	lock.index = len(h.locks)
	h.locks = append(h.locks, lock)
}

// detach takes a lock off the holding and returns the grants that nobody relies on any more, for
// the caller to give back to the store.
func (h *holding) detach(lock *Lock) (unneeded []*grant) {
	last := len(h.locks) - 1
	h.locks[last].index = lock.index
	h.locks[lock.index] = h.locks[last]
	h.locks[last] = nil
	h.locks = h.locks[:last]
	unpinned := false
	for _, g := range lock.pins {
		if g.pins--; g.pins > 0 {
			continue
		}
		if unpinned = true; !g.kept {
			unneeded = append(unneeded, g)
		}
	}
	if unpinned {
		h.tidy()
		if h.base != nil {
			h.base.tidy()
		}
	}
	return unneeded
}

// tidy forgets the grants that nobody relies on, and ends the holding where none are left.
func (h *holding) tidy() {
	h.grants = slices.DeleteFunc(h.grants, func(g *grant) bool { return g.pins == 0 })
	if len(h.grants) == 0 {
		h.end()
	}
}

// end takes the holding out of its scope and out of renewal.
func (h *holding) end() {
	h.renewer.forget(h)
	h.scope.forget(h)
	h.leaveBase()
}

// grant is one that the store has made to a scope.
type grant struct {
	id   GrantID
	gate bool
	// claims is normalised: every node, intentions included.
	claims []Claim
	// modes has the claims by path where they are many, and is nil where they are few.
	modes map[Path]Mode
	fence uint64
	// pins counts the locks that rely on this grant; the last one to go releases it.
	pins int
	// kept says that the grant stays with a detached hold when the last of them goes.
	kept bool
	// borrowed says that it is not known to last as long as the hold that it was found in: another
	// process, or another request, that has the hold attached may give it back at any time. Nothing
	// re-enters it.
	borrowed bool
}

// fewClaims is up to how many claims it is faster to look at each than to keep an index.
const fewClaims = 32

func newGrant(a Acquisition, granted Grant) *grant {
	g := &grant{id: a.Grant, gate: a.Gate, claims: a.Claims, fence: granted.Fence}
	if len(a.Claims) > fewClaims {
		g.modes = make(map[Path]Mode, len(a.Claims))
		for _, c := range a.Claims {
			g.modes[c.Path] = c.Mode
		}
	}
	return g
}

// covers reports whether g gives everything that the claim c asks for. The intentions above c need
// no look: whoever holds c, or a node above it in a mode that covers c, has them.
func (g *grant) covers(c Claim) bool {
	switch {
	case g.borrowed:
		return false
	case g.gate:
		return true
	case g.modes != nil:
		return g.indexed(c)
	}
	// The deepest claims come last, and are the ones that were asked for.
	for i := len(g.claims) - 1; i >= 0; i-- {
		held := g.claims[i]
		if held.Path.Contains(c.Path) && (held.Mode.CoversBelow(c.Mode) || held.Path == c.Path && held.Mode.Covers(c.Mode)) {
			return true
		}
	}
	return false
}

// indexed is covers where there are many claims.
func (g *grant) indexed(c Claim) bool {
	if g.modes[c.Path].Covers(c.Mode) {
		return true
	}
	for p := range c.Path.Ancestors() {
		if g.modes[p].CoversBelow(c.Mode) {
			return true
		}
	}
	return false
}
