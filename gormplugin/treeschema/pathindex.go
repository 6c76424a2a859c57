package treeschema

import (
	"context"
	"fmt"
	"slices"
)

// leastPrefix is how much of a path an index has to hold at least: what the older row formats of
// InnoDB have room for.
const leastPrefix = 191

// checkPathIndex looks for the index that leads to the rows below a path, and for one that keeps
// live rows with one path apart.
func (c *checker) checkPathIndex(ctx context.Context) error {
	for _, path := range c.table.Paths[:min(len(c.table.Paths), 1)] {
		if c.physical.columns[path.Column].generated != "" {
			continue // no index makes up for that the plugin cannot write it
		}
		var leading []index
		unique := path.OfIDs // the row's own id is in it
		for _, i := range c.physical.indexes {
			leads, err := c.leadsTo(ctx, i, path)
			if err != nil {
				return fmt.Errorf("%s: %w", i.name, err)
			}
			if leads {
				leading = append(leading, i)
			}
			apart, err := c.keepsPathsApart(ctx, i, path)
			if err != nil {
				return fmt.Errorf("%s: %w", i.name, err)
			}
			unique = unique || apart
		}
		switch {
		case len(leading) == 0:
			c.needsPathIndex(path, unique)
		case !unique:
			c.advisesUniquePaths(path, leading)
		}
	}
	return nil
}

// needsPathIndex reports that there is no index that leads to the rows below a path.
func (c *checker) needsPathIndex(path Text, unique bool) {
	f := Finding{
		Severity: Warning, Check: PathIndex, Missing: fmt.Sprintf("no index begins with %s, %s", c.table.Tree, path.Column),
		Why: "a rename reads the whole table, and may lock all of it", automatic: true,
	}
	if !unique {
		f.Statements = c.uniquePaths(c.table, c.physical, path)
	}
	if f.Statements == nil {
		f.Statements = c.pathIndex(c.table, c.physical, path)
	}
	c.found(f)
}

// advisesUniquePaths reports that the index that leads to the rows below a path could be unique.
func (c *checker) advisesUniquePaths(path Text, leading []index) {
	statements := c.asked(func() []string { return c.uniquePaths(c.table, c.physical, path) })
	if statements == nil {
		return
	}
	for _, i := range leading {
		if !i.unique && len(i.parts) == 2 {
			statements = append(statements, c.dropIndex(c.table, i)...)
		}
	}
	c.found(Finding{
		Severity: Advice, Check: Paths, Missing: fmt.Sprintf("the index over %s, %s is not unique", c.table.Tree, path.Column),
		Why:        "whatever goes past the plugin can give two live rows one path",
		Statements: statements, Advice: "make it so in the model, too",
	})
}

// keepsPathsApart reports whether an index lets no two live rows of a tree have one path.
func (c *checker) keepsPathsApart(ctx context.Context, i index, path Text) (bool, error) {
	if !i.unique || i.primary {
		return false, nil
	}
	texts := []string{i.predicate}
	for _, p := range i.parts {
		isMark := slices.ContainsFunc(c.table.Marks, func(m Mark) bool { return m.Column == p.column })
		switch generated := c.physical.columns[p.column].generated; {
		case p.prefix > 0:
			return false, nil
		case p.column == "":
			texts = append(texts, p.expression)
		case generated != "":
			texts = append(texts, generated)
		case p.column != c.table.Tree && p.column != path.Column && !isMark:
			return false, nil
		}
	}
	for name := range c.physical.columns {
		isMark := slices.ContainsFunc(c.table.Marks, func(m Mark) bool { return m.Column == name })
		if name != c.table.Tree && name != path.Column && !isMark && slices.ContainsFunc(texts, func(text string) bool { return mentions(text, name) }) {
			return false, nil
		}
	}
	k, err := c.evaluate(ctx, i, []probe{{}})
	return err == nil && k[0] != nil, err
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
	// An index in the order of a column that compares otherwise gets the right order when the
	// column gets it.
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
