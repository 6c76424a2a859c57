package fsck

import "slices"

// place says where the parents of a row lead.
type place struct {
	state state
	// depth is the number of names in the path.
	depth int
	// path and idPath are what the row's columns should hold.
	path, idPath string
	// tree is the row's tree or, if it has none, that of the nearest row above with one.
	tree Key
	// cycle is the cycle that the row is on or below.
	cycle *cycle
}

// state says how a climb ends.
type state uint8

const (
	// placed: at the top. The row has a path.
	placed state = iota
	// tooDeep: at the top, past more rows than a path can have names.
	tooDeep
	// detached: at an orphan, or at a name that no path can have.
	detached
	// cyclic: nowhere, on a cycle.
	cyclic
)

// cycle is a chain of parents that closes on itself.
type cycle struct {
	// first is the row with the smallest key. A check reports the cycle for it, and a repair breaks
	// the cycle there.
	first Key
	// length is the number of rows.
	length int
	// members are the rows upwards from first, at most cycleMembers.
	members []Key
}

// cycleMembers is the most rows of a cycle that a report names.
const cycleMembers = 16

// cycleOf describes the cycle that rows form. Each is the child of the next.
func cycleOf(rows []*row) *cycle {
	first := 0
	for i, r := range rows {
		if r.key.Compare(rows[first].key) < 0 {
			first = i
		}
	}
	c := &cycle{first: rows[first].key, length: len(rows)}
	for _, r := range slices.Concat(rows[first:], rows[:first]) {
		if len(c.members) == cycleMembers {
			break
		}
		c.members = append(c.members, r.key)
	}
	return c
}

// Bounds of each half of a memo.
const (
	memoEntries = 1 << 16
	memoBytes   = 8 << 20
)

// memo remembers places in bounded memory. When the young half is full, it becomes the old one. The
// memo then forgets what was in the old half, unless somebody asked for it meanwhile.
type memo struct {
	young, old map[Key]place
	bytes      int
}

func (m *memo) get(k Key) (place, bool) {
	if p, ok := m.young[k]; ok {
		return p, true
	}
	p, ok := m.old[k]
	if ok {
		m.put(k, p)
	}
	return p, ok
}

func (m *memo) put(k Key, p place) {
	if len(m.young) >= memoEntries || m.bytes >= memoBytes {
		m.old, m.young, m.bytes = m.young, make(map[Key]place), 0
	}
	m.young[k] = p
	m.bytes += k.bytes() + p.tree.bytes() + len(p.path) + len(p.idPath)
}
