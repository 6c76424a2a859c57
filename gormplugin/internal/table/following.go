package table

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/treetable"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Following is a column whose value follows from where a row is.
type Following struct {
	*schema.Field
	// Of is the column's value for a row.
	Of func(*Node) any
	// Moved is the column's new value for a row below one that moves, computed from the old values.
	Moved func(plan.Move) clause.Expression
}

// setFollowing fills Following. The column in which subtrees are ranges comes last: MySQL assigns
// the columns of an UPDATE one by one, and reads what it has already written.
func (t *Table) setFollowing() {
	path := func(f *schema.Field, form treetable.Form, of func(*Node) string) {
		if f == nil {
			return
		}
		t.Following = append(t.Following, Following{f,
			func(n *Node) any { return form.First(of(n)) },
			func(m plan.Move) clause.Expression { return t.rebased(form, Column(f), of(m.Node), of(m.After)) },
		})
	}
	if f := t.depth(); f != nil {
		t.Following = append(t.Following, Following{f, t.depthOf, t.depthMoved})
	}
	path(t.IDs, t.IDsForm, func(n *Node) string { return n.IDs })
	path(t.Path, t.PathForm, func(n *Node) string { return n.Path })
}

// depth is the column of the depth, nil if there is none.
func (t *Table) depth() *schema.Field { return t.Schema.FieldsByDBName[t.described.Depth] }

// depthOf is the depth of a row. A leaf without a path of names has one of ids.
func (t *Table) depthOf(n *Node) any {
	path := n.Path
	if path == "" && t.IsLeaf {
		path = n.IDs
	}
	return t.Above.described.DepthOf(strings.Count(path, "/"))
}

// depthMoved is the new depth of a row below one that moves.
func (t *Table) depthMoved(m plan.Move) clause.Expression {
	count := t.CountSeparators()
	return clause.Expr{SQL: fmt.Sprintf("%s + (%d)", count.SQL, t.described.DepthOf(m.Deeper()-t.PathForm.Separators())), Vars: count.Vars}
}

// FollowsAlone reports whether a column follows from a row's place, and no path states it.
func (t *Table) FollowsAlone(f *schema.Field) bool { return f != nil && f == t.depth() }

// CountSeparators is the number of separators in what is stored of a path.
func (t *Table) CountSeparators() clause.Expr {
	length, path := t.Dialect.Length, Column(t.Path)
	return clause.Expr{SQL: length + "(?) - " + length + "(REPLACE(?, '" + t.PathForm.Separator + "', ''))", Vars: []any{path, path}}
}

// SetFollowing writes into the record what follows from a row's place.
func (t *Table) SetFollowing(r Record, n *Node) error {
	var failed []error
	for _, f := range t.Following {
		value, err := exactly(f.Field, f.Of(n))
		if err != nil { // GORM would store another depth, such as the greatest for -1
			why := "the column %q of %s: give it a type that holds the depths of all rows, that of a root row, too"
			return fault.Unfit(fmt.Errorf("%w: %w: %w", fault.ErrUnsupported, shown.Inside(fmt.Sprintf(why, f.DBName, t.RowName(n.ID))), err))
		}
		failed = append(failed, r.Set(f.Field, value))
	}
	return errors.Join(failed...)
}

// Nodes, plans and locks have paths as "/a/b". The columns, and the fields of the caller's structs,
// have them in the form that the model states: see package treetable.

// ReadStated returns what a caller states by the text of a path column: "" for none, and [plan.Top]
// for the top as the path of a parent, which may be written as the separator, too. It reads what a
// [Lookup] reads, unless the form has a text before the first name.
func ReadStated(form treetable.Form, text string) string {
	switch {
	case text == "":
		return ""
	case form.OfParent && (text == form.Separator || text == form.Print("")):
		return plan.Top
	case form.Lead != "" && form.Lead != form.Separator:
		return form.Read(text)
	}
	return form.ReadNames(text)
}

// rebased is what a column holds of a row at or below a path, once the path is another one.
func (t *Table) rebased(form treetable.Form, column clause.Column, from, to string) clause.Expression {
	// SUBSTRING and SUBSTR count characters, from 1. Something stands in the column of a row that
	// moves: only that of a root row is empty in some forms.
	return clause.Expr{SQL: t.Dialect.Join, Vars: []any{form.Print(to), column, utf8.RuneCountInString(form.Print(from)) + 1}}
}

// separated is SQL of a dialect about paths with slashes, for paths with the separator of a form.
func separated(form treetable.Form, sql string) string {
	return strings.ReplaceAll(sql, "'/'", "'"+form.Separator+"'")
}
