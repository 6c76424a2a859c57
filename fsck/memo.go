package fsck

// place is where the parents of a row lead.
type place struct {
	state state
	// depth is the number of names in the path.
	depth int
	// path and idPath are what the row's columns should hold.
	path, idPath string
	// tree is the one of the row or, where it has none, of the nearest row above that has.
	tree Key
	// cycle is the one that the row is on or below.
	cycle *cycle
}

// state says what comes of following a row's parents.
type state uint8

const (
	// placed: they lead to the top, so that the row has a path.
	placed state = iota
	// tooDeep: they lead to the top, past more rows than a path can have names.
	tooDeep
	// detached: they lead to an orphan, or past a name that no path can have.
	detached
	// cyclic: they lead round and round.
	cyclic
)

// Bounds of a memo; it has two halves of this size each.
const (
	memoEntries = 1 << 16
	memoBytes   = 8 << 20
)

// memo remembers places, in memory that does not grow with the table. When the young half is full
// it becomes the old one, and what was in the old one and has not been asked for since is
// forgotten.
type memo struct {
	young, old map[Key]place
	bytes      int
}

func newMemo() *memo { return &memo{young: make(map[Key]place)} }

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
