package pathlock

import (
	"slices"
	"time"
)

// Snapshot is what a tree's lock table held at one instant.
type Snapshot struct {
	Tree Tree `json:"tree"`
	// Fence is the fence of the latest grant, 0 if none is on record.
	Fence uint64 `json:"fence"`
	// Holders has one entry per grant, in order of their fences.
	Holders []Entry `json:"holders"`
	// Waiters has one entry per queued request, in order of arrival.
	Waiters []Entry `json:"waiters"`
}

// Entry is one grant, or one queued request, in a [Snapshot].
type Entry struct {
	Owner Owner `json:"owner"`
	// Gate says that the tree's gate is held or waited for.
	Gate bool `json:"gate"`
	// Detached says that the hold lives without a process: see [Owner.Detached].
	Detached bool `json:"detached"`
	// Claims is the normalised claim set, in folded paths.
	Claims []Claim `json:"claims"`
	Note   string  `json:"note"`
	// Origin is where the request came from. A [Locker] fills it in, a [Store] does not know it.
	Origin Origin `json:"origin,omitzero"`
	// Fence is the grant's; 0 while the request waits.
	Fence uint64 `json:"fence"`
	// Since is when the grant was made or the wait began. Until is when the grant's lease or the
	// wait ends. Both are by the store's clock. An apart grant ends with the owner's lease where
	// that ends first.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// Blocking is somebody whom a request waits for, in a [Snapshot].
type Blocking struct {
	// Entry is the holder, or the waiter that came earlier. It points into the snapshot.
	Entry *Entry
	// Waiting says that it waits.
	Waiting bool
	// Path and Mode are where the two conflict: the topmost such node, and what the blocker has or
	// wants there. Where one of the two asks for the gate, Path is the root, and Mode is the
	// blocker's there, or [ModeX] if it has the gate.
	Path Path
	Mode Mode
}

// Blockers returns for each waiter of the snapshot whom it waits for: the holders that it conflicts
// with, and then the earlier waiters that it conflicts with and may not pass. They are the edges of
// the wait-for graph, by the rules of [Store.Acquire]. The time that it takes grows with the square
// of the number of entries.
func (s Snapshot) Blockers() [][]Blocking {
	g := newWaitGraph(s)
	blockers := make([][]Blocking, len(s.Waiters))
	for i, w := range g.all[len(s.Holders):] {
		blockers[i] = g.blockers(w)
	}
	return blockers
}

// InTheWay returns whom a request would wait for if it came now: see [Snapshot.Blockers]. The owner
// may be "" for one that holds nothing. Claims need not be normalised, but their paths have to be
// folded: see [Locker.Folded].
func (s Snapshot) InTheWay(owner Owner, gate bool, claims []Claim) []Blocking {
	request := Entry{Owner: owner, Gate: gate, Claims: Normalize(claims...)}
	s.Waiters = append(slices.Clip(s.Waiters), request)
	g := newWaitGraph(s)
	return g.blockers(g.all[len(g.all)-1])
}

// waitGraph knows who waits for whom in a snapshot.
type waitGraph struct {
	// all has the holders as the snapshot orders them, and then the waiters.
	all []*waitNode
	// holds and waits have the entries of each owner. An owner that is "" holds nothing.
	holds, waits map[Owner][]*waitNode
	// passes has what mayPass has said.
	passes map[[2]*waitNode]bool
}

// waitNode is a hold or a waiter, with those of other owners that it conflicts with.
type waitNode struct {
	*Entry
	waiting bool
	place   int // among all
	// against are the holders, and then the earlier waiters, in conflict with a waiter.
	against []Blocking
	nodes   []*waitNode // against[i] is of nodes[i]
}

func newWaitGraph(s Snapshot) *waitGraph {
	g := &waitGraph{
		holds: make(map[Owner][]*waitNode), waits: make(map[Owner][]*waitNode), passes: make(map[[2]*waitNode]bool),
	}
	for i := range s.Holders {
		n := &waitNode{Entry: &s.Holders[i], place: len(g.all)}
		g.holds[n.Owner] = append(g.holds[n.Owner], n)
		g.all = append(g.all, n)
	}
	for i := range s.Waiters {
		n := &waitNode{Entry: &s.Waiters[i], waiting: true, place: len(g.all)}
		for _, o := range g.all {
			if path, mode, conflict := n.meets(o); conflict {
				n.nodes = append(n.nodes, o)
				n.against = append(n.against, Blocking{Entry: o.Entry, Waiting: o.waiting, Path: path, Mode: mode})
			}
		}
		g.waits[n.Owner] = append(g.waits[n.Owner], n)
		g.all = append(g.all, n)
	}
	return g
}

// meets reports whether n conflicts with o, which came before, at which node and with which mode of
// o's. Claims are in order, so that the topmost node is found first.
func (n *waitNode) meets(o *waitNode) (path Path, mode Mode, conflict bool) {
	switch {
	case n.Owner == o.Owner:
		return path, 0, false
	case o.Gate:
		return path, ModeX, true
	case n.Gate:
		return path, modeAt(o.Claims, path), true
	}
	for _, c := range n.Claims {
		if mode = modeAt(o.Claims, c.Path); !Compatible(mode, c.Mode) {
			return c.Path, mode, true
		}
	}
	return path, 0, false
}

// modeAt returns the mode of a claim set at a node.
func modeAt(set []Claim, p Path) Mode {
	i, found := slices.BinarySearchFunc(set, p, func(c Claim, p Path) int { return c.Path.Compare(p) })
	if !found {
		return 0
	}
	return set[i].Mode
}

// blockers returns whom w waits for.
func (g *waitGraph) blockers(w *waitNode) []Blocking {
	var found []Blocking
	for i, o := range w.nodes {
		if !o.waiting || !g.mayPass(w, o) {
			found = append(found, w.against[i])
		}
	}
	return found
}

// mayPass reports whether w need not wait for v, which came before it: v waits for w's owner.
func (g *waitGraph) mayPass(w, v *waitNode) bool {
	if len(g.holds[w.Owner]) == 0 {
		return false
	}
	pair := [2]*waitNode{w, v}
	if known, ok := g.passes[pair]; ok {
		return known
	}
	g.passes[pair] = g.waitsFor(v, w.Owner, w.place, make(map[*waitNode]bool))
	return g.passes[pair]
}

// waitsFor reports whether w waits for an owner, directly or through others. Of requests later than
// limit whose owners hold something, it does not look at whom they are behind.
func (g *waitGraph) waitsFor(w *waitNode, owner Owner, limit int, seen map[*waitNode]bool) bool {
	if w.Owner == owner || seen[w] {
		return false
	}
	seen[w] = true
	late := w.place > limit && len(g.holds[w.Owner]) > 0
	for _, o := range w.nodes {
		switch {
		case !o.waiting:
			if o.Owner == owner {
				return true
			}
			for _, u := range g.waits[o.Owner] {
				if g.waitsFor(u, owner, limit, seen) {
					return true
				}
			}
		case late:
			return false
		case !g.mayPass(w, o) && g.waitsFor(o, owner, limit, seen):
			return true
		}
	}
	return false
}
