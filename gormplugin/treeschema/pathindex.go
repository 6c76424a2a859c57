package treeschema

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// leastPrefix is the least number of characters of a path that an index has to hold. The older row
// formats of InnoDB have room for as many.
const leastPrefix = 191

// checkPathIndex looks for the index that finds the rows below a path, and for one that keeps live
// rows with one path apart.
func (c *checker) checkPathIndex(ctx context.Context) error {
	for _, path := range c.table.Paths[:min(len(c.table.Paths), 1)] {
		if c.physical.columns[path.Column].generated != "" {
			continue // the plugin cannot write it, whatever the index
		}
		var leading []index
		unique := path.OfIDs // it contains the row's own id
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

// needsPathIndex reports that no index finds the rows below a path.
func (c *checker) needsPathIndex(path Text, unique bool) {
	f := Finding{
		Severity: Warning, Check: PathIndex, Missing: fmt.Sprintf("no index begins with %s, %s", c.table.Tree, path.Column),
		Why: "a rename reads the whole table, and may lock all of it", automatic: true,
	}
	if !unique {
		f.Statements = c.uniquePaths(c.table, c.physical, path, c.physical.freeName(c.table.Table, path.Column))
	}
	if f.Statements == nil {
		f.Statements = c.pathIndex(c.table, c.physical, path)
	}
	c.found(f)
}

// advisesUniquePaths reports that the index that finds the rows below a path could be unique.
func (c *checker) advisesUniquePaths(path Text, leading []index) {
	var drop []string
	name, old := c.physical.freeName(c.table.Table, path.Column), ""
	for _, i := range leading {
		if !i.unique && len(i.parts) == 2 {
			drop = append(drop, c.dropIndex(c.table, i)...)
			old = cmp.Or(old, i.name)
		}
	}
	f := Finding{
		Severity: Advice, Check: Paths, Missing: fmt.Sprintf("the index over %s, %s is not unique", c.table.Tree, path.Column),
		Why: "writes past the plugin can give two live rows one path",
	}
	// The new index takes the name of the old one: GORM makes an index of a model whose name is not
	// there.
	var rename []string
	if old != "" {
		f.Advice = "remove the index from the model, too: gormplugin.AutoMigrate makes the unique one in a new table"
		if rename = c.renameIndex(c.table, name, old); rename == nil {
			name = old
		}
	}
	unique := c.asked(func() []string { return c.uniquePaths(c.table, c.physical, path, name) })
	if unique == nil {
		return
	}
	if f.Statements = slices.Concat(unique, drop, rename); rename == nil {
		f.Statements = slices.Concat(drop, unique)
	}
	c.found(f)
}

// keepsPathsApart reports whether an index keeps two live rows of a tree from having one path.
func (c *checker) keepsPathsApart(ctx context.Context, i index, path Text) (bool, error) {
	if !i.unique || i.primary {
		return false, nil
	}
	texts, allowed := []string{i.predicate}, append([]string{c.table.Tree, path.Column}, c.table.markColumns()...)
	for _, p := range i.parts {
		switch generated := c.physical.columns[p.column].generated; {
		case p.prefix > 0:
			return false, nil
		case p.column == "":
			texts = append(texts, p.expression)
		case generated != "":
			texts = append(texts, generated)
		case !slices.Contains(allowed, p.column):
			return false, nil
		}
	}
	if c.mentionOthers(texts, allowed) {
		return false, nil
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
	// If the column compares otherwise, another finding mends it, and the index's order with it.
	if !second.ordered && col.equal == exactly {
		return false, nil
	}
	if i.predicate == "" {
		return true, nil
	}
	// The plugin's own conditions imply the index's only if that asks for live rows, and for
	// nothing else.
	if c.mentionOthers([]string{i.predicate}, c.table.markColumns()) {
		return false, nil
	}
	k, err := c.evaluate(ctx, index{predicate: i.predicate}, []probe{{}})
	return err == nil && k[0] != nil, err
}
