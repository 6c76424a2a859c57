package contention

import (
	"cmp"
	"maps"
	"slices"
	"time"
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

// sum is what the orders but [Last] look at.
type sum struct {
	longest, waited time.Duration
	waits           int
}

// isOfSums reports whether an order looks at a [sum].
func (o Order) isOfSums() bool { return o == Longest || o == MostWaited || o == MostWaits }

// sums compares two sums. It returns 0 if the order does not look at them.
func (o Order) sums(a, b sum) int {
	switch o {
	case Longest:
		return cmp.Compare(b.longest, a.longest)
	case MostWaited:
		return cmp.Compare(b.waited, a.waited)
	case MostWaits:
		return cmp.Compare(b.waits, a.waits)
	default:
		return 0
	}
}

// episodes compares two episodes.
func (o Order) episodes(a, b Episode) int {
	first := o.sums(sum{a.Longest, a.Waited, a.Waits}, sum{b.Longest, b.Waited, b.Waits})
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
			total := sums[r.Name]
			total.Name = r.Name
			total.Waits += r.Waits
			total.Waited += r.Waited
			total.Longest = max(total.Longest, r.Longest)
			total.CausedWaits += r.CausedWaits
			total.Caused += r.Caused
			if r.Last.After(total.Last) {
				total.Last = r.Last
			}
			sums[r.Name] = total
		}
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b Route) int {
		first := o.sums(sum{a.Longest, a.Waited, a.Waits}, sum{b.Longest, b.Waited, b.Waits})
		if !o.isOfSums() {
			first = b.Last.Compare(a.Last)
		}
		return cmp.Or(first, cmp.Compare(a.Name, b.Name))
	})
}

// ByPlace sums up the episodes by place.
func (h History) ByPlace(o Order) []Place {
	sums := make(map[place]Place)
	for _, e := range h.Episodes {
		key := place{tree: e.Tree, path: e.Path, gate: e.Gate}
		total := sums[key]
		total.Tree, total.Path, total.Gate = e.Tree, e.Path, e.Gate
		total.Episodes++
		total.Waits += e.Waits
		total.MostWaiting = max(total.MostWaiting, e.MostWaiting)
		total.Waited += e.Waited
		total.Longest = max(total.Longest, e.Longest)
		last := e.Ended
		if last.IsZero() {
			last = h.At
		}
		if last.After(total.Last) {
			total.Last = last
		}
		sums[key] = total
	}
	return slices.SortedFunc(maps.Values(sums), func(a, b Place) int {
		first := o.sums(sum{a.Longest, a.Waited, a.Waits}, sum{b.Longest, b.Waited, b.Waits})
		if !o.isOfSums() {
			first = b.Last.Compare(a.Last)
		}
		return cmp.Or(first, cmp.Compare(a.Tree.String(), b.Tree.String()), a.Path.Compare(b.Path))
	})
}
