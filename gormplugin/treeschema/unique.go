package treeschema

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A unique index keeps two rows with the same parent and name apart under two conditions: the row
// meets the index's predicate, and no part of the index's key is NULL or depends on something by
// which siblings differ. The database itself evaluates the expressions, on made-up rows.

// covered says which live rows unique indexes keep apart.
type covered struct{ siblings, top bool }

// and returns what two indexes cover together.
func (a covered) and(b covered) covered {
	return covered{siblings: a.siblings || b.siblings, top: a.top || b.top}
}

// checkUnique looks for the unique indexes that keep siblings, and rows at the top, apart.
func (c *checker) checkUnique(ctx context.Context) error {
	if err := c.findMark(ctx); err != nil {
		return err
	}
	if err := c.findTop(ctx); err != nil {
		return err
	}
	probes := []probe{{}, {deleted: 1}, {deleted: 2}, {top: "NULL"}, {top: "NULL", deleted: 1}, {top: "NULL", deleted: 2}}
	parent := c.physical.columns[c.table.Parent]
	// A foreign key column cannot hold a zero value.
	mixed := parent.nullable && !c.physical.referring[parent.name] && c.table.Tree != ""
	if mixed {
		for _, zero := range zeros(c.dialect, parent) {
			probes = append(probes, probe{top: zero})
		}
	}
	// If the parent cannot be NULL, the index over siblings covers the top, too. Leaves are never
	// at the top.
	good := covered{top: c.table.Tree == "" || !parent.nullable}
	var bad, halves covered
	var strict []index
	for _, i := range c.physical.indexes {
		if !i.unique || i.primary || !c.concerns(i) {
			continue
		}
		k, err := c.evaluate(ctx, i, probes)
		if err != nil {
			return fmt.Errorf("%s: %w", i.name, err)
		}
		covers := covered{siblings: k[0] != nil, top: k[3] != nil}
		halves = halves.and(covers)
		if mixed && covers.top {
			covers.top = slices.ContainsFunc(k[6:], func(zero []string) bool { return slices.Equal(zero, k[3]) })
		}
		if len(c.table.Marks) > 0 && (k[:3].holdsDeleted() || k[3:6].holdsDeleted()) {
			strict, bad = append(strict, i), bad.and(covers)
			continue
		}
		good = good.and(covers)
	}
	either := ""
	if all := good.and(bad); !all.siblings || !all.top {
		var err error
		if either, err = c.lookalike(ctx); err != nil {
			return err
		}
	}
	if !good.siblings && !bad.siblings {
		f := Finding{
			Severity: Unsafe, Check: Siblings, Missing: "no unique index keeps apart live rows with the same " + c.table.Parent + " and " + c.table.Name.Column,
			Why: "two siblings can have one name",
		}
		c.found(c.indexed(f, c.siblings, either))
		good.siblings = true
	}
	if !good.top && !bad.top {
		f := Finding{
			Severity: Unsafe, Check: TopRows, Missing: "no unique index keeps apart live rows whose " + c.table.Parent + " is NULL",
			Why: "two rows at the top of a tree, or two roots, can have one name, as NULL is not equal to NULL",
		}
		f = c.indexed(f, c.topRows, either)
		if halves.top {
			// The plugin writes NULL. Only rows of other programs, with a zero value, do harm.
			beside, err := c.hasZeroParents(ctx)
			if err != nil {
				return err
			}
			if !beside {
				f.Severity, f.automatic = Advice, false
			}
			f.Missing = "no unique index keeps live rows whose " + c.table.Parent + " is NULL apart from those in which it is a zero value"
			f.Why = "both are at the top, where two rows can have one name, as NULL is not equal to zero"
		}
		c.found(f)
		good.top = true
	}
	c.reportStrict(strict, good)
	return nil
}

// hasZeroParents reports whether any live row has a zero value for a parent, rather than NULL.
func (c *checker) hasZeroParents(ctx context.Context) (bool, error) {
	zero := zeros(c.dialect, c.physical.columns[c.table.Parent])
	if len(zero) == 0 {
		return false, nil
	}
	found, err := ask(ctx, c.conn, fmt.Sprintf("SELECT 1 AS found FROM %s WHERE %s IN (%s)%s LIMIT 1",
		c.quote(c.table.Table), c.quote(c.table.Parent), strings.Join(zero, ", "), c.table.live(" AND ", c.quote)))
	return len(found) > 0, err
}

// findMark looks for a generated column that tells live rows from deleted ones.
func (c *checker) findMark(ctx context.Context) error {
	names := slices.Sorted(maps.Keys(c.physical.columns))
	for _, name := range names {
		i := index{parts: []part{{column: name}}}
		if c.physical.columns[name].generated == "" || len(c.table.Marks) == 0 || !c.concerns(i) {
			continue
		}
		k, err := c.evaluate(ctx, i, []probe{{}, {deleted: 1}, {deleted: 2}, {top: "NULL"}})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if k[0] != nil && slices.Equal(k[0], k[3]) && k[1] == nil && k[2] == nil {
			c.physical.mark, c.mark = name, name
			return nil
		}
	}
	return nil
}

// findTop looks for the generated column of a unique index over rows at the top. The column stands
// alone if the index could not be made, because of siblings with one name.
func (c *checker) findTop(ctx context.Context) error {
	if c.table.Tree == "" {
		return nil // leaves are never at the top
	}
	tree, parent := c.physical.columns[c.table.Tree], c.physical.columns[c.table.Parent]
	probes := []probe{{}, {top: "NULL"}, {top: "NULL", deleted: 1}}
	for _, zero := range zeros(c.dialect, parent) {
		probes = append(probes, probe{top: zero})
	}
	for _, name := range slices.Sorted(maps.Keys(c.physical.columns)) {
		col := c.physical.columns[name]
		ours := strings.HasPrefix(name, c.physical.baseName(c.table.Table, "top"))
		typ := strings.TrimPrefix(col.typ, "var") == strings.TrimPrefix(tree.typ, "var") && col.collation == tree.collation
		i := index{parts: []part{{column: name}}}
		if col.generated == "" || !ours || !typ || !mentions(col.generated, c.table.Tree) || !c.concerns(i) {
			continue
		}
		k, err := c.evaluate(ctx, i, probes)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		isTop := func(key []string) bool { return slices.Equal(key, k[1]) }
		if k[0] == nil && k[1] != nil && (k[2] == nil || len(c.table.Marks) == 0) && !slices.ContainsFunc(k[3:], func(key []string) bool { return !isTop(key) }) {
			c.physical.top = name
			return nil
		}
	}
	return nil
}

// reportStrict reports the unique indexes that count deleted rows. Where good indexes do not cover
// the live rows yet, new ones come before the old ones are dropped.
func (c *checker) reportStrict(strict []index, good covered) {
	statements := c.asked(func() (statements []string) {
		if !good.siblings && len(strict) > 0 {
			statements = c.siblings(c.table, c.physical)
		}
		if !good.top && len(strict) > 0 {
			statements = append(statements, c.topRows(c.table, c.physical)...)
		}
		return statements
	})
	for _, i := range strict {
		f := Finding{
			Severity: Warning, Check: DeletedNames, Missing: "the unique index " + i.name + " also counts deleted rows",
			Why: "a deleted row's name cannot be used again, or no second row with a name can be deleted",
		}
		if drop := c.dropIndex(c.table, i); drop != nil {
			f.Statements = slices.Concat(statements, drop)
			f.Advice = "remove the index from the model, too"
			statements = nil
		} else {
			f.Advice = "recreate the table without that constraint, see https://sqlite.org/lang_altertable.html#otheralter"
		}
		c.found(f)
	}
}

// same are the columns in which two live siblings with one name agree.
func (c *checker) same() []string {
	columns := append(c.table.siblings(), c.table.markColumns()...)
	for _, path := range c.table.Paths {
		if !path.OfIDs {
			columns = append(columns, path.Column)
		}
	}
	return columns
}

// concerns reports whether an index depends only on columns in which siblings with one name agree.
func (c *checker) concerns(i index) bool {
	texts, same := []string{i.predicate}, c.same()
	for _, p := range i.parts {
		switch col := c.physical.columns[p.column]; {
		case p.column == "":
			texts = append(texts, p.expression)
		case col.generated != "":
			texts = append(texts, col.generated)
		case !slices.Contains(same, p.column):
			return false
		}
	}
	return !c.mentionOthers(texts, same)
}

// mentionOthers reports whether any of the expressions mentions a column other than those allowed.
func (c *checker) mentionOthers(expressions, allowed []string) bool {
	for name := range c.physical.columns {
		if !slices.Contains(allowed, name) && slices.ContainsFunc(expressions, func(e string) bool { return mentions(e, name) }) {
			return true
		}
	}
	return false
}

// mentions reports whether an expression contains a name as a whole word.
func mentions(text, name string) bool {
	return regexp.MustCompile(`(?i)(?:^|\W)` + regexp.QuoteMeta(name) + `(?:$|\W)`).MatchString(text)
}

// indexed adds the statements that make a unique index over names, or advice if it cannot be made.
// either is a name of siblings that such an index would treat as equal, "" if there are none.
func (c *checker) indexed(f Finding, make func(Table, *physical) []string, either string) Finding {
	if either != "" {
		f.Advice = fmt.Sprintf("give the column %s a collation by which different names differ, or rename siblings that it treats as equal, such as those named %q; then call Verify again",
			c.table.Name.Column, either)
		return f
	}
	f.Statements, f.automatic = make(c.table, c.physical), true
	if f.Statements == nil {
		f.Advice = c.onePiece()
	}
	return f
}
