package treeschema

import (
	"slices"
	"strings"
)

// leastPrefix is the least number of characters of a path that an index has to hold. The older row
// formats of InnoDB have room for as many.
const leastPrefix = 191

// checkPathIndex looks for the index that finds the rows below a path, or the leaves below a row.
func (c *checker) checkPathIndex() {
	if len(c.table.Paths) == 0 {
		return
	}
	path, why := c.table.Paths[0], "a rename reads the whole table, and may lock all of it"
	if c.table.IsLeaf { // found by its parent
		path.Column, why = c.table.Parent, "a rename above reads the whole table, and may lock all of it"
		if slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Check == Siblings && f.Adds() }) {
			return // by an index that begins so
		}
	}
	if !slices.ContainsFunc(c.indexes, func(i index) bool { return c.leadsTo(i, path) }) {
		c.found(c.indexed(Finding{
			Severity: Warning, Check: PathIndex, Missing: "no index begins with " + strings.Join(c.table.inTree(path.Column), ", "),
			Why: why,
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
	return (last.Prefix == 0 || last.Prefix >= leastPrefix) && (bool(last.Ordered) || c.table.IsLeaf) &&
		(i[0].Condition == "" || c.restrict(&of, normal(i[0].Condition)) && of == rows{live: true})
}
