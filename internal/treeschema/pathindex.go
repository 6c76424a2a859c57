package treeschema

import (
	"fmt"
	"slices"
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
			Severity: Warning, Check: PathIndex, Missing: fmt.Sprintf("no index begins with %s, %s", c.table.Tree, path.Column),
			Why: "a rename reads the whole table, and may lock all of it",
		}, func() ([]string, string) { return c.pathIndex(path) }))
	}
}

// leadsTo reports whether an index holds the live rows of a tree in the order of a path.
func (c *checker) leadsTo(i index, path Text) bool {
	if bool(i[0].Idle) || len(i) < 2 || i[0].Column != c.table.Tree || i[1].Column != path.Column {
		return false
	}
	second := i[1]
	var of rows
	return (second.Prefix == 0 || second.Prefix >= leastPrefix) && bool(second.Ordered) &&
		(i[0].Condition == "" || c.restrict(&of, normal(i[0].Condition)) && of == rows{live: true})
}
