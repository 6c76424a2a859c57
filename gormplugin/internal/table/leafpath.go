package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/treetable"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// LeafPath is a path column of a leaf. What it holds follows from a column of the row above, and
// from the leaf's own name or id.
type LeafPath struct {
	Column, Above *schema.Field
	// Form is how the column spells paths. Above differs in one thing at most: which of the two
	// holds the path of the parent.
	Form, AboveForm treetable.Form
	Room            plan.Room
	// last is the column of the last name in the path of a leaf, and lastAbove that of the row
	// above.
	last, lastAbove *schema.Field
	// OfIDs is set for a path of ids, and beside if the rows above have theirs beside a path of
	// names.
	OfIDs, beside bool
	// ofDepth is set for the depth, which follows in the same way.
	ofDepth bool
}

// findLeafPaths notes the path columns of a leaf. It refuses those that could not be kept right.
func (t *Table) findLeafPaths() error {
	above := t.Above
	names := LeafPath{Column: t.Path, Form: t.PathForm, Room: t.PathRoom, last: t.Name, Above: above.Path, AboveForm: above.PathForm, lastAbove: above.Name}
	ids := LeafPath{Column: t.IDs, Form: t.IDsForm, Room: t.IDsRoom, last: t.Key, Above: above.IDs, AboveForm: above.IDsForm, lastAbove: above.Key, OfIDs: true, beside: true}
	if above.ByIDs {
		ids.Above, ids.AboveForm, ids.beside, names.Above = above.Path, above.PathForm, false, nil
	}
	for _, p := range []LeafPath{names, ids} {
		if p.Column == nil {
			continue
		}
		refuse := func(why string, args ...any) error {
			return fmt.Errorf("gormplugin: %s: the path %s cannot be kept: "+why, append([]any{t.Schema.Name, p.Column.Name}, args...)...)
		}
		spelled := p.AboveForm
		spelled.OfParent = p.Form.OfParent
		switch {
		case p.Above == nil:
			return refuse("%s has no path of that kind, from which it could follow", above.Schema.Name)
		case p.Form != spelled:
			return refuse("its form must be that of %s in %s, %s, alone or behind parent:", p.Above.Name, above.Schema.Name, strings.TrimPrefix(p.AboveForm.String(), "parent:"))
		case !p.OfIDs && t.isUniqueByPath():
			return refuse("it is in a unique index, but leaves of several trees have one path: make the parent and the name unique instead")
		}
		t.LeafPaths = append(t.LeafPaths, p)
	}
	if f, of := t.depth(), above.depth(); f != nil {
		if of == nil || !slices.ContainsFunc(t.LeafPaths, func(p LeafPath) bool { return !p.beside }) {
			return fmt.Errorf("gormplugin: %s: the depth %s cannot be maintained: it needs a depth in %s, and a path of the kind by which locks there are named", t.Schema.Name, f.Name, above.Schema.Name)
		}
		t.LeafPaths = append(t.LeafPaths, LeafPath{Column: f, Above: of, ofDepth: true})
	}
	if len(t.LeafPaths) > 0 {
		above.Leaves = append(above.Leaves, t)
	}
	return nil
}

// isUniqueByPath reports whether the model asks for a unique index that has the path of names.
func (t *Table) isUniqueByPath() bool {
	return t.Path.Unique || slices.ContainsFunc(t.Schema.ParseIndexes(), func(i *schema.Index) bool {
		return i.Class == "UNIQUE" && slices.ContainsFunc(i.Fields, func(o schema.IndexOption) bool { return o.Field == t.Path })
	})
}

// LacksID reports whether the path of a leaf ends in an id that the database may have yet to give.
func (p LeafPath) LacksID() bool { return p.OfIDs && !p.Form.OfParent }

// FromTo returns the path above a leaf before and after a move.
func (p LeafPath) FromTo(m plan.Move) (from, to string) {
	if p.beside {
		return m.IDs, m.After.IDs
	}
	return m.Path, m.After.Path
}

// Follows is what the path column of a leaf, called c, holds below the row that is called p. It
// needs nothing but the row's own path, and mends what has gone stale.
func (t *Table) Follows(p LeafPath) clause.Expression {
	above := clause.Expression(clause.Expr{SQL: "?", Vars: []any{clause.Column{Table: "p", Name: p.Above.DBName}}})
	if p.ofDepth {
		return clause.Expr{SQL: "? + 1", Vars: []any{above}}
	}
	if p.AboveForm.OfParent {
		last := clause.Column{Table: "p", Name: p.lastAbove.DBName}
		below := t.child(p, above, last)
		if !p.OfIDs { // a root row has no name
			below = clause.Expr{SQL: "CASE WHEN " + t.Dialect.Length + "(?) = 0 THEN ? ELSE ? END", Vars: []any{last, above, below}}
		}
		above = below
	}
	if p.Form.OfParent {
		return above
	}
	return t.child(p, above, clause.Column{Table: "c", Name: p.last.DBName})
}

// child returns what a column of rows' own paths holds for a child; above is what it holds for the
// parent.
func (t *Table) child(p LeafPath, above any, last clause.Column) clause.Expression {
	beside := func(text any) clause.Expression {
		if p.OfIDs {
			return clause.Expr{SQL: t.Dialect.First, Vars: []any{text, last}}
		}
		return clause.Expr{SQL: t.Dialect.Join, Vars: []any{text, last, 1}}
	}
	follow := separated(p.Form, t.Dialect.Follow)
	switch {
	case p.Form.Trail != "":
		return clause.Expr{SQL: follow, Vars: []any{beside(above), ""}}
	case p.Form.Lead != "":
		return clause.Expr{SQL: follow, Vars: []any{above, last}}
	default: // nothing stands before the first name, and above is empty there
		return clause.Expr{SQL: "CASE WHEN " + t.Dialect.Length + "(?) = 0 THEN ? ELSE " + follow + " END", Vars: []any{above, beside(""), above, last}}
	}
}
