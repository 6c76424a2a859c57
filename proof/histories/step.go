package histories

import "slices"

// contention lists the refusals that other requests, or the servers, can cause.
var contention = []string{"locked", "path-changed", "lock-store-unavailable", "database-unavailable", "idempotency-key-in-use"}

// step returns whether an answer can be that of the request in a state, and the state afterwards. A
// request without an answer takes effect at any time at which it changes something, or never: after
// the end.
func (t *tree) step(in input, out output) (bool, *tree) {
	switch {
	case in.do == "end":
		return true, t.changed(func(next *tree) { next.ended = true })
	case t.ended:
		return out.unknown, t
	case in.reused && !out.unknown:
		return out.refused == "idempotency-key-reused" || slices.Contains(contention, out.refused), t
	case slices.Contains(contention, out.refused):
		return true, t
	case in.reads():
		return t.shows(in, out)
	case out.refused != "":
		return slices.Contains(t.refusals(in), out.refused), t
	case len(t.refusals(in)) > 0 || in.reused:
		return false, t
	}
	var made int64
	if len(out.rows) > 0 {
		made = out.rows[0].number
	}
	next := t.after(in, made)
	for _, r := range out.rows {
		if !next.is(r, true) {
			return false, t
		}
	}
	return !out.unknown || next.text != t.text, next
}

// is reports whether a row shows a living node as it is.
func (t *tree) is(r row, path bool) bool {
	n := t.nodes[r.id]
	return t.lives(r.id) && n.parent == r.parent && n.name == r.name && n.version == r.version && (!path || t.path(r.id) == r.path)
}

// shows is step for reads. It numbers the nodes that a read shows for the first time.
func (t *tree) shows(in input, out output) (bool, *tree) {
	switch in.do {
	case "suite":
		if out.refused != "" {
			return out.refused == "not-found" && !t.lives(in.node), t
		}
		return t.is(out.rows[0], true), t
	case "bin":
		return t.binned(out.items)
	case "cases":
		if out.refused != "" || !t.lives(in.node) {
			// The suite may have gone between the two statements of the read.
			return (out.refused == "not-found" || out.refused == "" && len(out.rows) == 0) && !t.lives(in.node), t
		}
		return t.lists(out.rows, func(at id, n node) bool { return at.leaf && n.parent == in.node.number }, false)
	case "tree":
		return t.lists(out.rows, func(at id, _ node) bool { return !at.leaf }, true)
	default: // the table
		var gone [2]int
		for at, n := range t.nodes {
			if n.bin != (id{}) {
				gone[first(at)]++
			}
		}
		if gone != out.gone {
			return false, t
		}
		return t.lists(out.rows, func(id, node) bool { return true }, true)
	}
}

// lists compares rows with the nodes that fit. A suite comes before what is in it.
func (t *tree) lists(rows []row, fits func(id, node) bool, paths bool) (bool, *tree) {
	if out := t.living(fits); len(out) != len(rows) {
		return false, t
	}
	for _, r := range rows {
		if _, known := t.nodes[r.id]; !known {
			same := t.living(func(at id, n node) bool {
				return at.number < 0 && at.leaf == r.leaf && n.parent == r.parent && n.name == r.name
			})
			if len(same) != 1 {
				return false, t
			}
			t = t.named(same[0], r.id)
		}
		if !t.is(r, paths) {
			return false, t
		}
	}
	return true, t
}

// binned compares the entries of the bin.
func (t *tree) binned(entries []entry) (bool, *tree) {
	if len(entries) != len(t.bin) {
		return false, t
	}
	for _, e := range entries {
		i, ok := t.bin[e.node]
		n := t.nodes[e.node]
		var count [2]int
		for at, n := range t.nodes {
			if n.bin == e.node {
				count[first(at)]++
			}
		}
		if !ok || i.number != 0 && i.number != e.number || i.path != e.path || n.parent != e.parent || n.name != e.name || count != [2]int{e.cases, e.suites} {
			return false, t
		}
		if i.number == 0 {
			t = t.changed(func(next *tree) { next.bin[e.node] = item{e.number, e.path} })
		}
	}
	return true, t
}
