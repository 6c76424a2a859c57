package contention

import (
	"cmp"
	"maps"
	"slices"
)

// Order is how to sort what a [History] has: the largest first.
type Order string

// The orders.
const (
	// Last: what happened last. Episodes that go on come first.
	Last Order = "last"
	// Longest: by the longest single wait.
	Longest Order = "longest"
	// MostWaited: by the time that all waits took together.
	MostWaited Order = "waiter_seconds"
	// MostWaits: by the number of waits.
	MostWaits Order = "waits"
)

// Orders returns the orders.
func Orders() []Order { return []Order{Last, Longest, MostWaited, MostWaits} }

// Sort sorts the episodes. An order that is none of [Orders] counts as [Last].
func (h *History) Sort(o Order) { slices.SortStableFunc(h.Episodes, o.episodes) }

// episodes compares two episodes.
func (o Order) episodes(a, b Episode) int {
	first := 0
	switch o {
	case Longest:
		first = cmp.Compare(b.Longest, a.Longest)
	case MostWaited:
		first = cmp.Compare(b.Waited, a.Waited)
	case MostWaits:
		first = cmp.Compare(b.Waits, a.Waits)
	}
	switch {
	case first != 0:
		return first
	case a.Ended.IsZero() != b.Ended.IsZero():
		if a.Ended.IsZero() {
			return -1
		}
		return 1
	}
	return cmp.Or(b.Ended.Compare(a.Ended), b.Began.Compare(a.Began), cmp.Compare(b.ID, a.ID))
}

// ByRoute sums up the episodes by route. An order by waits looks at what the route's own requests
// suffered.
func (h History) ByRoute(o Order) []Route {
	sums := make(map[string]Route)
	for _, e := range h.Episodes {
		for _, r := range e.routes {
			sum := sums[r.Name]
			sum.Name = r.Name
			sum.Waits += r.Waits
			sum.Waited += r.Waited
			sum.Longest = max(sum.Longest, r.Longest)
			sum.CausedWaits += r.CausedWaits
			sum.Caused += r.Caused
			if r.Last.After(sum.Last) {
				sum.Last = r.Last
			}
			sums[r.Name] = sum
		}
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b Route) int {
		first := b.Last.Compare(a.Last)
		switch o {
		case Longest:
			first = cmp.Compare(b.Longest, a.Longest)
		case MostWaited:
			first = cmp.Compare(b.Waited, a.Waited)
		case MostWaits:
			first = cmp.Compare(b.Waits, a.Waits)
		}
		return cmp.Or(first, cmp.Compare(a.Name, b.Name))
	})
}

// ByPlace sums up the episodes by place.
func (h History) ByPlace(o Order) []Place {
	sums := make(map[place]Place)
	for _, e := range h.Episodes {
		key := place{tree: e.Tree, path: e.Path, gate: e.Gate}
		sum := sums[key]
		sum.Tree, sum.Path, sum.Gate = e.Tree, e.Path, e.Gate
		sum.Episodes++
		sum.Waits += e.Waits
		sum.MostWaiting = max(sum.MostWaiting, e.MostWaiting)
		sum.Waited += e.Waited
		sum.Longest = max(sum.Longest, e.Longest)
		last := e.Ended
		if last.IsZero() {
			last = h.At
		}
		if last.After(sum.Last) {
			sum.Last = last
		}
		sums[key] = sum
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b Place) int {
		first := b.Last.Compare(a.Last)
		switch o {
		case Longest:
			first = cmp.Compare(b.Longest, a.Longest)
		case MostWaited:
			first = cmp.Compare(b.Waited, a.Waited)
		case MostWaits:
			first = cmp.Compare(b.Waits, a.Waits)
		}
		return cmp.Or(first, cmp.Compare(a.Tree.String(), b.Tree.String()), a.Path.Compare(b.Path))
	})
}
