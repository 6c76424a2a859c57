package histories

import (
	"fmt"
	"slices"
)

// input is a request.
type input struct {
	do   string // create, rename, move, copy, delete, restore; or a read: tree, suite, cases, bin, table
	node id     // of a creation, only what kind it is
	to   int64  // the new parent
	name string
	item int64 // in the recycle bin
	// seq is the request's own, with room for the nodes of a copy.
	seq int64
	// reused says that the request has the key of another one.
	reused bool
}

// reads reports whether a request changes nothing.
func (in input) reads() bool {
	return slices.Contains([]string{"tree", "suite", "cases", "bin", "table"}, in.do)
}

// output is an answer.
type output struct {
	unknown bool   // there was none, or it says so itself
	refused string // why nothing happened
	rows    []row  // what it shows
	items   []entry
	gone    [2]int // in a table: how many suites and cases are in the bin
}

func (out output) String() string {
	switch {
	case out.unknown:
		return "?"
	case out.refused != "":
		return out.refused
	}
	return fmt.Sprintf("done, %v, bin %+v %v", out.rows, out.items, out.gone)
}

// row is a node as an answer shows it.
type row struct {
	id
	parent  int64
	name    string
	path    string
	version int64
}

func (r row) String() string {
	return fmt.Sprintf("%v=%s(%q in %d, v%d)", r.id, r.path, r.name, r.parent, r.version)
}

// entry is an item of the bin as an answer shows it.
type entry struct {
	number        int64
	node          id
	parent        int64
	name, path    string
	suites, cases int
}
