package gormplugin

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// checkCopy refuses options that cannot be followed.
func (p *copier) checkCopy(c *copying) error {
	if c.table.byIDs {
		return c.table.unsupported("rows that have a path of ids only cannot be copied by Copy, which finds the copies' parents by the path of names; use Create")
	}
	if err := c.table.checkValues(c.values); err != nil {
		return err
	}
	for _, l := range c.leaves {
		leaf, err := p.tableFor(l.model)
		if err != nil {
			return err
		}
		if leaf.above != c.table || !leaf.isLeaf() {
			return leaf.unsupported("it is not a leaf of %s: use CopyAttached", c.table.name)
		}
		if err := leaf.checkValues(l.values); err != nil {
			return err
		}
	}
	return nil
}

// checkValues refuses columns that a copy cannot be told, and a key that nobody gives.
func (t *table) checkValues(values map[string]any) error {
	keyed := t.key.AutoIncrement || t.key.HasDefaultValue
	for name := range values {
		f := t.schema.LookUpField(name)
		switch {
		case f == nil || f.DBName == "":
			return fmt.Errorf("gormplugin: %s has no column %q", t.schema.Name, name)
		case slices.Contains(t.placeColumns(), f), slices.Contains(t.deletion, f):
			return t.unsupported("%q of a copy follows from its place", f.DBName)
		case f == t.key:
			keyed = true
		}
	}
	if !keyed {
		return t.unsupported("the database does not give keys: CopyValues has to, such as {%q: gorm.Expr(%q)}", t.key.DBName, "UUID()")
	}
	return nil
}

// copyAttached copies what hangs on the copied rows.
func (p *copier) copyAttached(db *gorm.DB, st *statement, c *copying, x *copyPlan) error {
	if len(c.leaves) == 0 && len(c.attach) == 0 {
		return nil
	}
	pairs := p.pairs(db, c, x)
	for _, l := range c.leaves {
		leaf, err := p.tableFor(l.model)
		if err != nil {
			return err
		}
		own := map[*schema.Field]any{leaf.parent: clause.Column{Table: "m", Name: "new_id"}}
		from := clause.Expr{SQL: "? AS c JOIN (?) AS m ON m.old_id = ?", Vars: []any{clause.Table{Name: leaf.name}, pairs, column(leaf.parent)}}
		if _, err := leaf.insertFrom(db, from, nil, own, l.values, st.fence); err != nil {
			return err
		}
	}
	for _, attach := range c.attach {
		if err := attach(db.Session(&gorm.Session{NewDB: true}), db.Session(&gorm.Session{NewDB: true}).Raw("?", pairs)); err != nil {
			return err
		}
	}
	return nil
}

// pairs is a SELECT of which row is the copy of which: a copy's path is that of the source, with
// another beginning.
func (p *copier) pairs(db *gorm.DB, c *copying, x *copyPlan) clause.Expression {
	t := c.table
	of := func(alias string, f *schema.Field) clause.Column { return clause.Column{Table: alias, Name: f.DBName} }
	var same, source clause.Expression
	if t.isLeaf() {
		value, _ := t.key.ValueOf(db.Statement.Context, c.made)
		same = clause.Eq{Column: of("n", t.key), Value: value}
		source = clause.Eq{Column: column(t.key), Value: x.source.id}
	} else {
		path := p.Dialect.Join(x.after.path, of("s", t.path), utf8.RuneCountInString(x.source.path)+1)
		same = clause.And(clause.Eq{Column: of("n", t.tree), Value: x.after.tree}, p.exactly(of("n", t.path), path), under("n", t.alive))
		source = p.within(t, x.source.tree, x.source.id, x.source.path)
	}
	name := clause.Table{Name: t.name}
	return clause.Expr{
		SQL:  "SELECT ? AS old_id, ? AS new_id FROM ? AS s JOIN ? AS n ON ? WHERE ?",
		Vars: []any{of("s", t.key), of("n", t.key), name, name, same, under("s", t.matching(source, false))},
	}
}

// under makes a condition on the columns of the statement's table one on those of an alias.
func under(alias string, condition clause.Expression) clause.Expression {
	return aliased{alias, condition}
}

// aliased is a condition under an alias.
type aliased struct {
	alias     string
	condition clause.Expression
}

// Build implements [clause.Expression].
func (a aliased) Build(b clause.Builder) {
	stmt, ok := b.(*gorm.Statement)
	if !ok {
		return
	}
	table := stmt.Table
	stmt.Table = a.alias
	a.condition.Build(b)
	stmt.Table = table
}
