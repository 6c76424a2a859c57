package table

import (
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/treetable"
	"gorm.io/gorm/clause"
)

// Nodes, plans and locks have paths as "/a/b". The columns, and the fields of the caller's structs,
// have them in the form that the model states: see package treetable.

// Stated returns what a caller states by the text of a path column: "" for none, and for the top as
// the path of a parent, which may be written as the separator, too. It reads what a [Lookup] reads,
// unless paths begin with a text of their own, after which names come.
func Stated(form treetable.Form, text string) string {
	switch {
	case text == "" || form.OfParent && text == form.Separator:
		return ""
	case form.Lead != "" && form.Lead != form.Separator:
		return form.Read(text)
	}
	return form.ReadNames(text)
}

// Rebased is what a column holds of a row at or below a path, once the path is another one.
func (t *Table) Rebased(form treetable.Form, column clause.Column, from, to string) clause.Expression {
	// SUBSTRING and SUBSTR count characters, from 1.
	moved := func(from, to string) clause.Expression {
		return clause.Expr{SQL: t.Dialect.Join, Vars: []any{to, column, utf8.RuneCountInString(from) + 1}}
	}
	if before, _ := form.Below(from); before == "" && form.Trail == "" {
		// Nothing stands between the empty text of a root row and what is stored of its children.
		after, _ := form.Below(to)
		return clause.Expr{SQL: "CASE WHEN " + t.Dialect.Length + "(?) = 0 THEN ? ELSE ? END", Vars: []any{column, form.Print(to), moved("", after)}}
	}
	return moved(form.Print(from), form.Print(to))
}

// Separated is SQL of a dialect about paths with slashes, for paths with the separator of a form.
func Separated(form treetable.Form, sql string) string {
	return strings.ReplaceAll(sql, "'/'", "'"+form.Separator+"'")
}
