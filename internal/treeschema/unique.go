package treeschema

import (
	"slices"

	"github.com/pathlock-go/pathlock/internal/treerow"
)

// A unique index keeps two rows with the same parent and name apart under two conditions: the row
// meets the index's conditions, and no part of the index's key is NULL or something by which
// siblings differ.

// cover says which live rows a unique index keeps apart, and from which others.
type cover struct {
	siblings, top bool
	// half: of the rows at the top, those whose parent is NULL, but not from those in which it is a
	// zero value.
	half bool
	// deleted: it counts deleted rows, too.
	deleted bool
}

// coverOf judges a unique index. ok is not set for an index over something else.
func (c *checker) coverOf(i index) (cover, bool) {
	t := c.table
	same := append(t.siblings(), t.markColumns()...)
	for _, path := range t.Paths {
		if !path.OfIDs {
			same = append(same, path.Column)
		}
	}
	var of rows
	nullParent, nullMark, marked := false, false, false
	ok := i.unique && (i.condition == "" || c.restrict(&of, normal(i.condition)))
	for _, p := range i.parts {
		col, expression := c.columns[p.Column], p.Expression
		if col.Expression != "" {
			expression = col.Expression
		}
		switch condition, value, guards := guarded(expression); {
		case expression == "":
			ok = ok && slices.Contains(same, p.Column)
			nullParent = nullParent || p.Column == t.Parent && bool(col.Nullable)
			for _, m := range t.Marks {
				nullMark = nullMark || p.Column == m.Column && m.Live == "NULL" && !i.nullsEqual
				marked = marked || p.Column == m.Column && !m.Flag
			}
		case guards && !i.nullsEqual:
			ok = ok && c.restrict(&of, condition) && !c.mentionsOther(value, same...)
		default:
			ok = ok && coalesced(expression, t.Parent)
		}
	}
	below, atTop := !of.top, !of.below && (!nullParent || i.nullsEqual)
	half := of.onlyNull || nullParent
	return cover{
		siblings: below && !nullMark, top: atTop && !half && !nullMark, half: atTop && half && !nullMark,
		deleted: len(t.Marks) > 0 && !of.live && !marked,
	}, ok
}

// checkUnique looks for the unique indexes that keep siblings, and rows at the top, apart.
func (c *checker) checkUnique() {
	t, parent := c.table, c.columns[c.table.Parent]
	// If the parent cannot be NULL, the index over siblings covers the top, too. Leaves are never
	// at the top.
	good := cover{top: t.Tree == "" || !bool(parent.Nullable)}
	var strict []index
	var bad cover
	for _, i := range c.indexes {
		of, ok := c.coverOf(i)
		switch {
		case !ok || !of.siblings && !of.top && !of.half:
		case of.deleted:
			strict = append(strict, i)
			bad.siblings, bad.top, bad.half = bad.siblings || of.siblings, bad.top || of.top, bad.half || of.half
		default:
			good.siblings, good.top, good.half = good.siblings || of.siblings, good.top || of.top, good.half || of.half
		}
	}
	if !good.siblings && !bad.siblings {
		c.found(c.indexed(Finding{
			Severity: Unsafe, Check: Siblings, Missing: "no unique index keeps apart live rows with the same " + t.Parent + " and " + t.Name.Column,
			Why: "two siblings can have one name",
		}, c.siblingIndex))
	}
	switch {
	case good.top || bad.top || good.half && !c.hasZero(parent):
	case good.half || bad.half:
		// The plugin writes NULL. Only rows of other programs, with a zero value, do harm.
		c.found(c.indexed(Finding{
			Severity: Advice, Check: TopRows, Missing: "no unique index keeps live rows whose " + t.Parent + " is NULL apart from those in which it is a zero value",
			Why: "both are at the top, where two rows can have one name if another program writes zero",
		}, c.topIndex))
	default:
		c.found(c.indexed(Finding{
			Severity: Unsafe, Check: TopRows, Missing: "no unique index keeps apart live rows whose " + t.Parent + " is NULL",
			Why: "two rows at the top of a tree, or two roots, can have one name, as NULL is not equal to NULL",
		}, c.topIndex))
	}
	for _, i := range strict {
		c.found(Finding{
			Severity: Warning, Check: DeletedNames, Missing: "the unique index " + i.name + " also counts deleted rows",
			Why:    "a deleted row's name cannot be used again, or no second row with a name can be deleted",
			Advice: "drop the index, and remove it from the model, too; gormplugin.AutoMigrate then makes one that leaves deleted rows out",
		})
	}
}

// hasZero reports whether a parent may be a zero value, which means none, rather than NULL. A
// foreign key column cannot hold one.
func (c *checker) hasZero(parent Column) bool {
	inKey := slices.ContainsFunc(c.foreignKeys, func(k foreignKey) bool { return slices.Contains(k.columns, parent.Name) })
	kinds := []treerow.Kind{treerow.Number, treerow.Text, treerow.UUID, treerow.Bytes}
	return !inKey && slices.Contains(kinds, treerow.KindOf(parent.Type))
}
