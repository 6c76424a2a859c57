package adopt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// fills are the statements that fill the added columns from the path.
func (s *shape) fills(d *dialect.Dialect) (statements []Statement) {
	column := s.Path
	form, _ := treetable.ParseForm(s.PathForm)
	if column == "" {
		column = s.IDPath
		form, _ = treetable.ParseForm(s.IDPathForm)
	}
	q, table := d.QuotePart, d.Quote(s.Table.Table)
	length := "LENGTH"
	if d == dialect.MySQL {
		length = "CHAR_LENGTH"
	}
	// dir is the path up to the last name, with what separates them.
	text := q(column)
	if form.Trail != "" {
		text = fmt.Sprintf("SUBSTR(%s, 1, %s(%s) - 1)", text, length, text)
	}
	dir := fmt.Sprintf("RTRIM(%s, REPLACE(%s, '%s', ''))", text, text, form.Separator)
	if d == dialect.MySQL {
		dir = fmt.Sprintf("LEFT(%s, CHAR_LENGTH(%s) - CHAR_LENGTH(SUBSTRING_INDEX(%s, '%s', -1)))", text, text, text, form.Separator)
	}
	above := dir
	if form.Trail == "" {
		above = fmt.Sprintf("SUBSTR(%s, 1, %s(%s) - 1)", dir, length, dir)
	}
	same, tree := "", ""
	if s.Tree != "" {
		same, tree = " AND p."+q(s.Tree)+" = "+table+"."+q(s.Tree), ", "+q(s.Tree)
	}
	own, root := q(column), "'"+strings.ReplaceAll(form.Print(""), "'", "''")+"'"
	top := above + " = " + root + " AND " + own + " <> " + root
	if form.OfParent {
		above, own = q(column), s.ownPath(d, form)
		top = above + " = " + root
	}
	live := ""
	if s.Deleted != "" {
		live = " WHERE " + d.Live(q(s.Deleted), s.of.kind(s.Deleted), s.when())
	}
	missing := "'-1'"
	if s.of.kind(s.Key) == dialect.Number {
		missing = "-1"
	}
	if s.isAdded(s.Name) {
		statements = append(statements, Statement{SQL: fmt.Sprintf("UPDATE %s SET %s = SUBSTR(%s, %s(%s) + 1)", table, q(s.Name), text, length, dir), Why: "the name is the last one of the path"})
	}
	return append(statements, Statement{
		SQL: fmt.Sprintf("UPDATE %s SET %s = COALESCE((SELECT MIN(p.%s) FROM (SELECT %s%s, %s AS own FROM %s%s) AS p WHERE p.own = %s AND p.own <> %s AND p.%s <> %s.%s%s), CASE WHEN %s THEN NULL ELSE %s END)",
			table, q(s.Parent), q(s.Key), q(s.Key), tree, own, table, live, qualified(above, q(column), table), root, q(s.Key), table, q(s.Key), same, top, missing),
		Why: fmt.Sprintf("the parent is the row with the path above; %d rows have none, and get the parent %s, which fsck finds", s.judge().orphans, missing),
	})
}

// qualified names the table of a column in an expression.
func qualified(expression, column, table string) string {
	return strings.ReplaceAll(expression, column, table+"."+column)
}

// ownPath is the expression for a row's own path, where the column has its parent's.
func (s *shape) ownPath(d *dialect.Dialect, form treetable.Form) string {
	parts := []string{d.QuotePart(cmp.Or(s.Path, s.IDPath)), d.QuotePart(cmp.Or(s.Name, s.Key))}
	if form.Trail != "" {
		parts = append(parts, "'"+form.Trail+"'")
	} else {
		parts = slices.Insert(parts, 1, fmt.Sprintf("CASE WHEN %s = '' AND '%s' = '' THEN '' ELSE '%s' END", parts[0], form.Lead, form.Separator))
	}
	if d == dialect.MySQL {
		return "CONCAT(" + strings.Join(parts, ", ") + ")"
	}
	return strings.Join(parts, " || ")
}
