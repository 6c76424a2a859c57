package treeschema

import "slices"

// keepsApart says which live rows a unique index keeps apart that have the same parent and name:
// siblings, and rows at the top. It does so if the rows meet the index's conditions, and no part of
// the index's key is NULL or something by which siblings differ.
func (c *checker) keepsApart(i index) (siblings, top bool) {
	same := c.table.siblings()
	for _, m := range c.table.Marks {
		if m.When == "" && !m.isText() { // live rows have one value
			same = append(same, m.Column)
		}
	}
	var of rows
	nullParent := false
	ok := bool(i[0].Unique) && (i[0].Condition == "" || c.restrict(&of, normal(i[0].Condition)))
	for _, p := range i {
		col, expression := c.columns[p.Column], p.Expression
		if col.Expression != "" {
			expression = col.Expression
		}
		if expression != "" {
			condition, value, guards := guarded(expression)
			ok = ok && guards && !bool(i[0].NullsEqual) && c.restrict(&of, condition) && !c.mentionsOther(value, same...)
			continue
		}
		isNull := func(m Mark) bool {
			return m.Column == p.Column && (m.Live == "NULL" || m.OrNull && bool(col.Nullable)) && !bool(i[0].NullsEqual)
		}
		ok = ok && p.Prefix == 0 && slices.Contains(same, p.Column) && !slices.ContainsFunc(c.table.Marks, isNull)
		nullParent = nullParent || p.Column == c.table.Parent && bool(col.Nullable) && !bool(i[0].NullsEqual)
	}
	return ok && !of.top, ok && !of.below && !nullParent
}

// checkUnique looks for the unique indexes that keep siblings, and rows at the top, apart.
func (c *checker) checkUnique() {
	t := c.table
	if t.Name.Column == "" {
		return
	}
	// If the parent cannot be NULL, the index over siblings covers the top, too. Leaves are never
	// at the top.
	siblings, top := false, t.IsLeaf || !bool(c.columns[t.Parent].Nullable)
	for _, i := range c.indexes {
		s, t := c.keepsApart(i)
		siblings, top = siblings || s, top || t
	}
	for _, i := range c.indexes {
		if slices.ContainsFunc(i, func(p part) bool { return bool(p.Unique) && p.Prefix > 0 && p.Column == c.table.Name.Column }) {
			c.found(Finding{
				Severity: Warning, Check: Siblings, Missing: "the unique index " + i[0].Index + " compares only the beginning of " + c.table.Name.Column,
				Why: "it refuses a free name as taken", Advice: "drop it; there has to be one over the whole names",
			})
		}
	}
	if !siblings {
		c.found(c.indexed(Finding{
			Severity: Unsafe, Check: Siblings, Missing: "no unique index keeps apart live rows with the same " + t.Parent + " and " + t.Name.Column,
			Why: "two siblings can have one name",
		}, c.siblingIndex))
	}
	if !top {
		c.found(c.indexed(Finding{
			Severity: Unsafe, Check: TopRows, Missing: "no unique index keeps apart live rows whose " + t.Parent + " is NULL",
			Why: "two rows at the top of a tree, or two roots, can have one name, as NULL is not equal to NULL",
		}, c.topIndex))
	}
}
