package treeschema

import (
	"fmt"
	"slices"
)

// leastPrefix is the least number of characters of a path that an index has to hold. The older row
// formats of InnoDB have room for as many.
const leastPrefix = 191

// checkPathIndex looks for the index that finds the rows below a path, and for one that keeps live
// rows with one path apart.
func (c *checker) checkPathIndex() {
	if len(c.table.Paths) == 0 {
		return
	}
	path := c.table.Paths[0]
	leads := slices.IndexFunc(c.indexes, func(i index) bool { return c.leadsTo(i, path) })
	unique := path.OfIDs || // it contains the row's own id
		slices.ContainsFunc(c.indexes, func(i index) bool { return c.keepsPathsApart(i, path) })
	switch statements, words := c.pathIndex(path, true); {
	case leads < 0:
		f := Finding{
			Severity: Warning, Check: PathIndex, Missing: fmt.Sprintf("no index begins with %s, %s", c.table.Tree, path.Column),
			Why: "a rename reads the whole table, and may lock all of it", Statements: statements,
		}
		if unique || words != "" {
			f.Statements, f.Advice = c.pathIndex(path, false)
		}
		c.found(f)
	case !unique && words == "":
		c.found(Finding{
			Severity: Advice, Check: Paths, Missing: fmt.Sprintf("the index over %s, %s is not unique", c.table.Tree, path.Column),
			Why: "writes past the plugin can give two live rows one path", Statements: statements,
			Advice: "then drop the index " + c.indexes[leads].name + ", and remove it from the model: gormplugin.AutoMigrate makes the unique one in a new table",
		})
	}
}

// leadsTo reports whether an index holds the live rows of a tree in the order of a path.
func (c *checker) leadsTo(i index, path Text) bool {
	if i.idle || len(i.parts) < 2 || i.parts[0].Column != c.table.Tree || i.parts[1].Column != path.Column {
		return false
	}
	second := i.parts[1]
	var of rows
	return (second.Prefix == 0 || second.Prefix >= leastPrefix) && bool(second.Ordered) &&
		(i.condition == "" || c.restrict(&of, normal(i.condition)) && of == rows{live: true})
}

// keepsPathsApart reports whether an index keeps two live rows of a tree from having one path.
func (c *checker) keepsPathsApart(i index, path Text) bool {
	allowed := append([]string{c.table.Tree, path.Column}, c.table.markColumns()...)
	for _, p := range i.parts {
		texts := p.Expression + c.columns[p.Column].Expression
		if p.Prefix > 0 || texts == "" && !slices.Contains(allowed, p.Column) || c.mentionsOther(texts, allowed...) {
			return false
		}
	}
	of, ok := c.coverOf(i)
	return ok && of.siblings && of.top
}
