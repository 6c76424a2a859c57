package table

import (
	"errors"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/treetable"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Following is a column whose value follows from where a row is.
type Following struct {
	*schema.Field
	// Of is what it holds of a row.
	Of func(*Node) any
	// Moved is what it holds of a row below one that moves, worked out from what the columns held.
	Moved func(plan.Move) clause.Expression
}

// setFollowing fills Following. The column that subtrees are ranges of comes last: MySQL works the
// columns of an UPDATE out one by one, on what it has written already.
func (t *Table) setFollowing() {
	path := func(f *schema.Field, form treetable.Form, of func(*Node) string) {
		if f == nil {
			return
		}
		t.Following = append(t.Following, Following{f,
			func(n *Node) any { return FirstWritten(form, of(n)) },
			func(m plan.Move) clause.Expression { return t.Rebased(form, Column(f), of(m.Node), of(m.After())) },
		})
	}
	path(t.IDs, t.IDsForm, func(n *Node) string { return n.IDs })
	path(t.Path, t.PathForm, func(n *Node) string { return n.Path })
}

// CountSeparators is the number of separators in what is stored of a path.
func (t *Table) CountSeparators() clause.Expression {
	length, path := t.Dialect.Length, Column(t.Path)
	return clause.Expr{SQL: length + "(?) - " + length + "(REPLACE(?, '" + t.PathForm.Separator + "', ''))", Vars: []any{path, path}}
}

// SetFollowing writes into the record what follows from a row's place.
func (t *Table) SetFollowing(r Record, n *Node) error {
	var failed []error
	for _, f := range t.Following {
		failed = append(failed, r.Set(f.Field, f.Of(n)))
	}
	return errors.Join(failed...)
}

// FirstWritten is what a column holds of a new row with a path. One that would still lack the row's
// own id is left empty: see fillIDs in package write.
func FirstWritten(form treetable.Form, path string) string {
	if plan.LacksID(path) && !form.OfParent {
		return ""
	}
	return form.Column(path)
}
