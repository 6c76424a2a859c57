package pathlock

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
	// borrowed says that it is not known to last as long as the hold that it was found in: another process, or
	// another request, that has the hold attached may give it back at any time. Nothing re-enters it.
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

// covers reports whether g gives everything that the claim c asks for. The
// intentions above c need no look: whoever holds c, or a node above it
// in a mode that covers c, has them.
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
