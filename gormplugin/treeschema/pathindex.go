package treeschema

import (
	"context"
	"fmt"
	"slices"
)

// leastPrefix is how much of a path an index has to hold at least: what the older row formats of InnoDB have room for.
const leastPrefix = 191

// checkPathIndex looks for the index that leads to the rows below a path.
func (c *checker) checkPathIndex(ctx context.Context) error {
	for _, path := range c.table.Paths[:min(len(c.table.Paths), 1)] {
		found := false
		for _, i := range c.physical.indexes {
			leads, err := c.leadsTo(ctx, i, path)
			if err != nil {
				return fmt.Errorf("%s: %w", i.name, err)
			}
			found = found || leads
		}
		if found {
			continue
		}
		c.found(Finding{
			Severity: Warning, Check: PathIndex, Missing: fmt.Sprintf("no index begins with %s, %s", c.table.Tree, path.Column),
			Why:        "a rename reads the whole table, and may lock all of it",
			Statements: c.pathIndex(c.table, c.physical, path), automatic: true,
		})
	}
	return nil
}

// leadsTo reports whether an index holds the live rows of a tree in the order of a path.
func (c *checker) leadsTo(ctx context.Context, i index, path Text) (bool, error) {
	if i.idle || len(i.parts) < 2 || i.parts[0].column != c.table.Tree || i.parts[1].column != path.Column {
		return false, nil
	}
	col, second := c.physical.columns[path.Column], i.parts[1]
	if second.prefix > 0 && second.prefix < leastPrefix {
		return false, nil
	}
	// An index in the order of a column that compares otherwise gets the right order when the column gets it.
	if !second.ordered && col.equal == exactly {
		return false, nil
	}
	if i.predicate == "" {
		return true, nil
	}
	// A condition is implied by the plugin's own only where it asks for nothing but life.
	for name := range c.physical.columns {
		isMark := slices.ContainsFunc(c.table.Marks, func(m Mark) bool { return m.Column == name })
		if !isMark && mentions(i.predicate, name) {
			return false, nil
		}
	}
	k, err := c.evaluate(ctx, index{predicate: i.predicate}, []probe{{}})
	return err == nil && k[0] != nil, err
}
