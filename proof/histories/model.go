// Package histories runs three instances of the sample app on real servers, with random clients and
// faults, and has the requests and answers judged: they must be those of a tree that changes at one
// instant for each request, between its sending and its answer.
package histories

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// id is what a node is known by: suites and cases are numbered apart. A node that no answer has
// shown has a number below zero until a read shows its own.
type id struct {
	leaf   bool
	number int64
}

func (i id) String() string {
	if i.leaf {
		return fmt.Sprint("case ", i.number)
	}
	return fmt.Sprint("suite ", i.number)
}

// node is a suite or a case.
type node struct {
	parent  int64
	name    string
	version int64 // of a suite
	bin     id    // the top of what it was deleted with; zero while it lives
}

// item is an entry of the recycle bin. Its number is 0 until a read shows it.
type item struct {
	number int64
	path   string
}

// tree is the state of a plan. It never changes: a request makes another one.
type tree struct {
	nodes map[id]node
	bin   map[id]item // by the node at the top
	ended bool        // nothing happens any more
	text  string      // what distinguishes it from other states
}

func newTree(root int64) *tree {
	return (&tree{nodes: map[id]node{{number: root}: {version: 1}}, bin: map[id]item{}}).sealed()
}

// changed returns a copy of the tree with a change.
func (t *tree) changed(change func(*tree)) *tree {
	next := &tree{nodes: maps.Clone(t.nodes), bin: maps.Clone(t.bin), ended: t.ended}
	change(next)
	return next.sealed()
}

func (t *tree) sealed() *tree {
	lines := []string{fmt.Sprint(t.ended)}
	for at, n := range t.nodes {
		lines = append(lines, fmt.Sprint(at, n))
	}
	for at, i := range t.bin {
		lines = append(lines, fmt.Sprint(at, i))
	}
	slices.Sort(lines)
	t.text = strings.Join(lines, "\n")
	return t
}

// lives reports whether a node is there, and is not in the bin.
func (t *tree) lives(at id) bool {
	n, ok := t.nodes[at]
	return ok && n.bin == id{}
}

// path is the names from the root to a node.
func (t *tree) path(at id) string {
	n := t.nodes[at]
	if n.parent == 0 {
		return ""
	}
	return t.path(id{number: n.parent}) + "/" + n.name
}

// within reports whether a node is the top, or lies below it.
func (t *tree) within(at, top id) bool {
	return at == top || at.number != 0 && t.within(id{number: t.nodes[at].parent}, top)
}

// living returns the living nodes that fit, in the order of their paths.
func (t *tree) living(fits func(at id, n node) bool) []id {
	var all []id
	for at, n := range t.nodes {
		if t.lives(at) && fits(at, n) {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, func(a, b id) int {
		return cmp.Or(strings.Compare(t.path(a), t.path(b)), cmp.Compare(a.number, b.number))
	})
	return all
}

// subtree returns a node and what lives below it.
func (t *tree) subtree(top id) []id {
	return t.living(func(at id, _ node) bool { return t.within(at, top) })
}

// taken reports whether another node has a name.
func (t *tree) taken(by id, parent int64, name string) bool {
	return len(t.living(func(at id, n node) bool {
		return at != by && at.leaf == by.leaf && n.parent == parent && n.name == name
	})) > 0
}

// refusals returns why a write can be refused: all that is wrong with it.
func (t *tree) refusals(w input) (why []string) {
	refused := func(is bool, reason string) {
		if is {
			why = append(why, reason)
		}
	}
	at, name, to := w.node, w.name, w.to
	switch w.do {
	case "rename":
		to = t.nodes[at].parent
	case "move":
		name = t.nodes[at].name
		refused(!at.leaf && t.lives(at) && t.within(id{number: to}, at), "would-cycle")
	case "restore":
		name, to = t.nodes[at].name, t.nodes[at].parent
		refused(t.bin[at].number != w.item, "not-found")
	}
	if w.do == "create" || w.do == "copy" {
		refused(t.taken(id{leaf: at.leaf}, to, name), "name-taken")
	} else {
		refused(w.do != "delete" && t.taken(at, to, name), "name-taken")
	}
	refused(w.do != "create" && w.do != "restore" && !t.lives(at), "not-found")
	refused(w.do != "create" && !at.leaf && t.nodes[at].parent == 0 && t.lives(at), "invalid-request")
	refused(w.do != "rename" && w.do != "delete" && !t.lives(id{number: to}), "not-found")
	return why
}

// after returns the tree after a write that nothing is wrong with. made is the number of the new
// node, if the answer has told it.
func (t *tree) after(w input, made int64) *tree {
	return t.changed(func(next *tree) {
		top, n := w.node, t.nodes[w.node]
		switch w.do {
		case "create":
			next.nodes[id{top.leaf, cmp.Or(made, -w.seq)}] = node{parent: w.to, name: w.name, version: first(top)}
		case "copy":
			numbers := map[int64]int64{n.parent: w.to}
			for i, at := range t.subtree(top) {
				copied := node{parent: numbers[t.nodes[at].parent], name: t.nodes[at].name, version: first(at)}
				number := -w.seq - int64(i)
				if at == top {
					copied.name, number = w.name, cmp.Or(made, number)
				}
				if !at.leaf {
					numbers[at.number] = number
				}
				next.nodes[id{at.leaf, number}] = copied
			}
		case "delete":
			next.bin[top] = item{path: t.path(top)}
			next.each(t.subtree(top), func(n *node) { n.bin = top })
		case "restore":
			delete(next.bin, top)
			next.each(slices.Collect(maps.Keys(t.nodes)), func(n *node) {
				if n.bin == top {
					n.bin = id{}
				}
			})
			next.each(next.subtree(top), func(n *node) { n.version++ })
		default: // rename and move
			moved := n
			if w.do == "rename" {
				moved.name = w.name
			} else {
				moved.parent = w.to
			}
			next.nodes[top] = moved
			if moved != n {
				next.each(t.subtree(top), func(n *node) { n.version++ })
			}
		}
	})
}

// first is the version of a new node.
func first(at id) int64 {
	if at.leaf {
		return 0
	}
	return 1
}

// each changes nodes. Cases have no version.
func (t *tree) each(nodes []id, change func(*node)) {
	for _, at := range nodes {
		n := t.nodes[at]
		change(&n)
		if at.leaf {
			n.version = 0
		}
		t.nodes[at] = n
	}
}

// named gives a node the number that a read has shown.
func (t *tree) named(was, is id) *tree {
	return t.changed(func(next *tree) {
		next.nodes[is] = t.nodes[was]
		delete(next.nodes, was)
		for at, n := range next.nodes {
			if !is.leaf && n.parent == was.number {
				n.parent = is.number
				next.nodes[at] = n
			}
		}
	})
}
