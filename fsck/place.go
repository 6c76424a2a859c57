package fsck

import "github.com/pathlock-go/pathlock"

// place says where the parents of a row lead.
type place struct {
	state state
	// depth is the number of names in the path.
	depth uint16
	// wantPath and wantIDPath are the row's right paths, as "/a/b".
	wantPath, wantIDPath string
	// unnamed is set for a leaf whose path cannot have its name. It keeps the path that it has.
	unnamed bool
}

// state says how the way up from a row ends.
type state uint8

const (
	unknown state = iota
	// underway: the row is on the way that is being followed.
	underway
	// placed: at the top. The row has a path.
	placed
	// tooDeep: at the top, past more rows than a path can have names.
	tooDeep
	// detached: at an orphan, or at a name that no path can have.
	detached
	// cyclic: nowhere, on a cycle.
	cyclic
)

// locate finds the places of all rows. They follow from names and parents alone, never from stored
// paths.
func (f *forest) locate() {
	f.cycles = make(map[*row][]*row)
	for _, r := range f.rows {
		r.state = unknown
	}
	var way []*row
	for _, r := range f.rows {
		way = way[:0]
		for at := r; at != nil && at.state <= underway; at = at.above() {
			if at.state == underway {
				f.addCycle(at)
				break
			}
			at.state = underway
			way = append(way, at)
		}
		for i := len(way) - 1; i >= 0; i-- {
			if way[i].state == underway {
				f.settleBelow(way[i], way[i].above())
			}
		}
	}
	for _, r := range f.leafRows {
		f.settleLeaf(r)
	}
}

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

// settleBelow sets the place of a row from that of its parent, which is nil at the end of the way.
func (f *forest) settleBelow(r, parent *row) {
	r.place = place{state: placed}
	switch {
	case parent == nil && r.fault != faultNone:
		r.state = detached
		return
	case r.isRoot():
		r.wantIDPath = "/" + r.key.String()
		return
	case parent != nil && parent.state != placed:
		r.state = parent.state
		return
	case f.checkName(&r.seat) != nil:
		r.state = detached
		return
	case parent != nil:
		r.place = parent.place
	}
	if r.depth >= pathlock.MaxDepth {
		r.place = place{state: tooDeep}
		return
	}
	r.depth++
	if f.table.Path != "" {
		r.wantPath = r.wantPath + "/" + r.name
	}
	if f.table.IDPath != "" {
		r.wantIDPath = r.wantIDPath + "/" + r.key.String()
	}
}
