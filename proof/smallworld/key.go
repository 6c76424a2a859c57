package smallworld

import "slices"

// key is a state in one number: nothing is lost to a hash. States that differ only in the names of
// the owners, and of the two nodes below /a, have the same: the rule only compares these. So have
// states that differ in the order of the grants, by which the queue only chooses which of several
// holders a waiter watches.
type key uint64

const requestBits = 10

// What a key has in the place of a request that is watched.
const (
	isNone = most + iota
	isGranted
)

// renamings are all the ways to name the owners.
var renamings = [...][owners]uint8{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}

func keyOf(s state) key {
	best := ^key(0)
	for _, name := range renamings {
		for _, twin := range [...]bool{false, true} {
			best = min(best, encode(s, name, twin))
		}
	}
	return best
}

func encode(s state, name [owners]uint8, twin bool) key {
	type placed struct {
		request
		was int
	}
	var room [most + 1]placed
	all := room[:len(s)]
	n := 0
	for i, r := range s {
		r.owner = name[r.owner]
		if twin {
			r.ask = asks[r.ask].twin
		}
		if r.granted {
			n++
		}
		all[i] = placed{r, i}
	}
	slices.SortFunc(all[:n], func(a, b placed) int {
		return int(a.owner)<<5 + int(a.ask) - int(b.owner)<<5 - int(b.ask)
	})
	var at [most + 1]uint8
	for i, r := range all {
		at[r.was] = uint8(i)
	}
	k := key(0)
	for _, r := range all {
		place := uint8(isGranted)
		switch {
		case r.granted:
		case r.watches == none:
			place = isNone
		default:
			place = at[r.watches]
		}
		k = k<<requestBits | key(r.owner)<<8 | key(r.ask)<<3 | key(place)
	}
	return k | key(len(s))<<(most*requestBits)
}

// decode returns a state that has a key.
func decode(k key) state {
	s := make(state, k>>(most*requestBits))
	for i := range slices.Backward(s) {
		r := request{owner: uint8(k>>8) & 3, ask: uint8(k>>3) & 31, watches: uint8(k & 7)}
		if r.granted = r.watches == isGranted; r.watches >= isNone {
			r.watches = none
		}
		s[i] = r
		k >>= requestBits
	}
	return s
}
