package fsck

import "github.com/pathlock-go/pathlock"

// addCycle notes the cycle that a row is on, upwards from the row with the smallest key.
func (f *forest) addCycle(at *row) {
	first := at
	for r := at.up; r != at; r = r.up {
		if r.order < first.order {
			first = r
		}
	}
	members := []*row{first}
	first.state = cyclic
	for r := first.up; r != first; r = r.up {
		r.state = cyclic
		members = append(members, r)
	}
	f.cycles[first] = members
}

// breakCycles moves the row of each cycle with the smallest key, with all rows below it.
func (p *plan) breakCycles() {
	for _, r := range p.rows {
		if members := p.cycles[r]; members != nil && p.allows(r) {
			p.moveToLostFound(r, Cycle, witnesses(members[1:min(len(members), pathlock.MaxDepth)]...))
		}
	}
}
