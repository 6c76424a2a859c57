package treeschema

import (
	"slices"
	"strings"
)

// leastPrefix is the least number of characters of a path that an index has to hold. The older row
// formats of InnoDB have room for as many.
const leastPrefix = 191

// checkPathIndex looks for the index that finds the rows below a path.
func (c *checker) checkPathIndex() {
	if len(c.table.Paths) == 0 {
		return
	}
	path := c.table.Paths[0]
	if !slices.ContainsFunc(c.indexes, func(i index) bool { return c.leadsTo(i, path) }) {
		c.found(c.indexed(Finding{
			Severity: Warning, Check: PathIndex, Missing: "no index begins with " + strings.Join(c.table.inTree(path.Column), ", "),
			Why: "a rename reads the whole table, and may lock all of it",
		}, func() ([]string, string) { return c.pathIndex(path) }))
	}
}

// leadsTo reports whether an index holds the live rows of a tree in the order of a path.
func (c *checker) leadsTo(i index, path Text) bool {
	begin := c.table.inTree(path.Column)
	if bool(i[0].Idle) || len(i) < len(begin) || i[0].Column != begin[0] || i[len(begin)-1].Column != path.Column {
		return false
	}
	last := i[len(begin)-1]
	var of rows
	return (last.Prefix == 0 || last.Prefix >= leastPrefix) && bool(last.Ordered) &&
		(i[0].Condition == "" || c.restrict(&of, normal(i[0].Condition)) && of == rows{live: true})
}
