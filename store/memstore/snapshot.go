package memstore

import (
	"cmp"
	"slices"

	"github.com/pathlock-go/pathlock"
)

// snapshot returns what the table holds.
func (t *table) snapshot() pathlock.Snapshot {
	var granted, waiting []*request
	for _, o := range t.owners {
		for r := range o.grants.all {
			granted = append(granted, r)
		}
		for r := range o.waits.all {
			waiting = append(waiting, r)
		}
	}
	sortByFence(granted)
	sortByArrival(waiting)
	return pathlock.Snapshot{Tree: t.tree, Fence: t.fence, Holders: describe(granted), Waiters: describe(waiting)}
}

// describe returns requests as a snapshot shows them.
func describe(requests []*request) []pathlock.Hold {
	holds := make([]pathlock.Hold, 0, len(requests))
	for _, r := range requests {
		h := pathlock.Hold{
			Owner:    r.owner.id,
			Gate:     r.Gate,
			Detached: r.owner.id.Detached(),
			Claims:   r.claims(),
			Note:     r.Note,
			Fence:    r.fence,
			Since:    r.since,
			Until:    r.until,
		}
		if r.granted() {
			h.Until = r.ends()
		}
		holds = append(holds, h)
	}
	return holds
}

func sortByFence(requests []*request) {
	slices.SortFunc(requests, func(a, b *request) int { return cmp.Compare(a.fence, b.fence) })
}
