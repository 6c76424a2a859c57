package treeschema

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// checkRows looks for a live row without a value in a column of the tree, and for any row if the
// table lacks such a column. It reads the table once, up to the row that it finds.
func (c *checker) checkRows(ctx context.Context, conn Conn) error {
	if !c.exists || c.Kind != "" {
		return nil
	}
	t, q, from := c.table, c.dialect.QuotePart, " FROM "+c.dialect.Quote(c.table.name())
	if absent := c.lacks(append(t.shaping(), nonEmpty(t.Depth)...)); len(absent) > 0 {
		_, _, found, err := c.anyRow(ctx, conn, "SELECT 1, 0"+from+" LIMIT 1")
		if found {
			f := &c.findings[0] // that columns are absent
			f.Check, f.Why, f.Advice = Filled, "the table has rows, which would have no value there", c.filling(absent)
		}
		return err
	}
	if slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Check == TableExists || f.Check == Type }) {
		return nil // a column is absent, or may not compare with the model's values
	}
	// A WHERE would have PostgreSQL read an index of live rows, and each row by itself.
	query := "SELECT id, which FROM (SELECT " + q(t.Key) + " AS id, CASE WHEN " + cmp.Or(t.live("", q), "1 = 1") + " THEN CASE"
	all, args := c.unfilled(), []any(nil)
	if len(all) == 0 { // leaves of a single tree, without paths
		return nil
	}
	for i, u := range all {
		query += fmt.Sprintf(" WHEN %s THEN %d", u.rows, i)
		args = append(args, u.args...)
	}
	row, which, found, err := c.anyRow(ctx, conn, query+" END END AS which"+from+") AS r WHERE which IS NOT NULL LIMIT 1", args...)
	if found {
		u := all[which]
		c.found(Finding{
			Severity: Unsafe, Check: Filled, Missing: fmt.Sprintf("the column %s of row %s %s", u.column, shown.ID(row), u.what),
			Why: u.why, Advice: c.filling([]string{u.column}),
		})
	}
	return err
}

// filling says what to do about columns that are absent or not filled.
func (c *checker) filling(columns []string) string {
	if slices.ContainsFunc(columns, func(name string) bool {
		return slices.Contains(nonEmpty(c.table.Tree, c.table.Parent, c.table.Name), name)
	}) {
		return "pathlock adopt prints how to add and fill it, which is right if the column is new; pathlock fsck finds what else is wrong"
	}
	return "if it is absent, add it by ALTER TABLE; then have pathlock fsck --repair fill it before the program starts"
}

// unfilled is a column in which the rows of a condition should have another value.
type unfilled struct {
	column, rows string
	args         []any
	what, why    string
}

// unfilled returns the columns in which some rows of the table may lack a value.
func (c *checker) unfilled() (all []unfilled) {
	t, q := c.table, c.dialect.QuotePart
	lacks := func(column, or, why string) {
		if column != "" {
			all = append(all, unfilled{column, "(" + q(column) + " IS NULL" + or + ")", nil, "is NULL, or what a new column is filled with", why})
		}
	}
	isNone := ""
	if dialect.KindOf(c.columns[t.Tree].Type) == dialect.Text {
		isNone = " OR " + q(t.Tree) + " = ''"
	}
	lacks(t.Tree, isNone, "the row is in no tree, so changes of the tree leave it out")
	top := c.dialect.NoParentSQLOfKind(q(t.Parent), dialect.KindOf(c.columns[t.Parent].Type))
	if at, err := dialect.MarkLiteral(t.ParentTop, !slices.Contains(t.TextKeys, t.Parent)); t.ParentTop != "" && err == nil {
		top = "(" + top + " OR " + q(t.Parent) + " = " + at + ")"
	}
	above, atTop := t.Table, top // or below a root row, with which the names of a path begin
	if t.isLeaf() {
		above = t.Above
	}
	if above.Name != "" && above.Path != "" {
		atTop = fmt.Sprintf("(%s OR EXISTS (SELECT 1 FROM %s AS up WHERE up.%s = %s.%s AND up.%s = ''))",
			top, c.dialect.Quote(above.Table), q(above.Key), c.dialect.Quote(t.name()), q(t.Parent), q(above.Name))
	}
	leftBehind := "moves and deletions of the rows above leave it behind"
	for i, path := range []struct{ column, form string }{{t.Path, t.PathForm}, {t.IDPath, t.IDPathForm}} {
		form, err := treetable.ParseForm(path.form)
		if path.column == "" || err != nil { // the description has been checked
			continue
		}
		text := q(path.column)
		isNone := " OR " + text + " = ''"
		switch isOfNames := i == 0; {
		case form.Print("") != "" || !isOfNames && !form.OfParent:
		case !form.OfParent:
			isNone += " AND NOT (" + top + " AND " + q(t.Name) + " = '')"
		case !isOfNames:
			isNone += " AND NOT " + top
		default:
			isNone += " AND NOT " + atTop
		}
		lacks(path.column, isNone, leftBehind)
		if c.dialect == dialect.PostgreSQL {
			text += ` COLLATE "C"` // others may replace nothing
		}
		below := fmt.Sprintf("LENGTH(%s) - LENGTH(REPLACE(%s, '%s', '')) > %d AND %s <> ?", text, text, form.Separator, form.Separators()+1, text)
		all = append(all, unfilled{
			t.Parent, top + " AND " + below, []any{form.Print("")}, "says that the row has no parent, but its " + path.column + " that it has one", leftBehind,
		})
	}
	isNone = ""
	if least := fmt.Sprint(t.DepthOf(1)); !t.isLeaf() && dialect.KindOf(c.columns[t.Depth].Type) == dialect.Number {
		if isNone = " OR " + q(t.Depth) + " < " + least; t.Path != "" { // a root row lies less deep
			isNone += " AND " + q(t.Name) + " <> ''"
		}
		if least == "0" {
			isNone += " OR " + q(t.Depth) + " = 0 AND NOT " + atTop
		}
	}
	lacks(t.Depth, isNone, "queries by the depth leave the row out")
	return all
}

// lacks returns those of some columns that the table does not have.
func (c *catalogue) lacks(columns []string) []string {
	return slices.DeleteFunc(columns, func(name string) bool { _, ok := c.columns[name]; return ok })
}

// anyRow reads the key of a row of a query, and which of [checker.unfilled] it lacks, if there is
// one.
func (c *checker) anyRow(ctx context.Context, conn Conn, query string, args ...any) (key string, which int, found bool, err error) {
	rows, err := conn.QueryContext(ctx, c.dialect.Bind(query), args...)
	if err != nil {
		return "", 0, false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if found = rows.Next(); found {
		err = rows.Scan(&key, &which)
	}
	return key, which, found, errors.Join(err, rows.Err())
}
