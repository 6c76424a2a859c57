package treeschema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/shown"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Absent finds the tables that have rows, and lack columns of the tree: these rows would have no
// value in new ones, or a wrong one.
func Absent(ctx context.Context, conn Conn, d *dialect.Dialect, tables []Model) (findings []Finding, err error) {
	for _, t := range tables {
		there, err := read(ctx, conn, d, t.name())
		if err != nil {
			return nil, err
		}
		absent := there.lacks(append(t.shaping(), stated(t.Depth)...))
		if !there.exists || there.Kind != "" || len(absent) == 0 {
			continue
		}
		_, has, err := anyRow(ctx, conn, d, t, "1", "1 = 1")
		if err != nil {
			return nil, err
		}
		advice := "add it by ALTER TABLE, and have pathlock fsck --repair fill it before the program starts"
		if slices.ContainsFunc(absent, func(name string) bool { return slices.Contains(stated(t.Tree, t.Parent, t.Name), name) }) {
			advice = "pathlock adopt prints the statements that add and fill it"
		}
		if has {
			findings = append(findings, Finding{
				Severity: Unsafe, Check: TableExists, Table: t.name(), Missing: "there is no column " + strings.Join(absent, ", "),
				Why: "the table has rows, which would have no value there", Advice: advice,
			})
		}
	}
	return findings, nil
}

// Unfilled finds live rows whose columns are there, and have not been filled: rows in no tree, and
// rows without a parent whose path is below another. It reads the rows without a tree or a parent.
func Unfilled(ctx context.Context, conn Conn, d *dialect.Dialect, tables []Model) (findings []Finding, err error) {
	for _, t := range tables {
		there, err := read(ctx, conn, d, t.name())
		if err != nil {
			return nil, err
		}
		if !there.exists || there.Kind != "" || len(there.lacks(append(stated(t.Key), t.shaping()...))) > 0 {
			continue
		}
		t.Marks = slices.DeleteFunc(slices.Clone(t.Marks), func(m Mark) bool { return len(there.lacks([]string{m.Column})) > 0 })
		c := checker{dialect: d, table: t, catalogue: there}
		if c.checkColumns(); slices.ContainsFunc(c.findings, func(f Finding) bool { return f.Check == Type }) {
			continue // its columns may not compare with the model's values
		}
		c.findings = nil
		for _, u := range c.unfilled() {
			row, has, err := anyRow(ctx, conn, d, t, d.QuotePart(t.Key), u.rows+t.live(" AND ", d.QuotePart), u.args...)
			if err != nil {
				return nil, err
			}
			if has {
				c.found(Finding{
					Severity: Unsafe, Check: Filled, Missing: fmt.Sprintf("the column %s of row %s %s", u.column, shown.ID(row), u.what),
					Why: u.why, Advice: "pathlock adopt prints an UPDATE that fills it, which is right if the column is new; pathlock fsck finds what else is wrong",
				})
			}
		}
		findings = append(findings, c.findings...)
	}
	return findings, nil
}

// unfilled is a column that rows of a condition should have a value in.
type unfilled struct {
	column, rows string
	args         []any
	what, why    string
}

// unfilled returns the columns of the table that some of its rows may lack a value in.
func (c *checker) unfilled() (all []unfilled) {
	if tree := c.table.Tree; tree != "" {
		all = append(all, unfilled{tree, c.dialect.QuotePart(tree) + " IS NULL", nil, "is NULL", "the row is in no tree, and what happens to the tree leaves it out"})
	}
	parent := c.columns[c.table.Parent]
	quoted := c.dialect.QuotePart(parent.Name)
	top := c.dialect.NoParentSQLOfKind(quoted, dialect.KindOf(parent.Type))
	if at, err := dialect.MarkLiteral(c.table.ParentTop, !slices.Contains(c.table.TextKeys, parent.Name)); c.table.ParentTop != "" && err == nil {
		top = "(" + top + " OR " + quoted + " = " + at + ")"
	}
	for _, path := range []struct{ column, form string }{{c.table.Path, c.table.PathForm}, {c.table.IDPath, c.table.IDPathForm}} {
		if path.column == "" {
			continue
		}
		form, err := treetable.ParseForm(path.form)
		if err != nil {
			continue // the description has been checked
		}
		text := c.dialect.QuotePart(path.column)
		if c.dialect == dialect.PostgreSQL {
			text += ` COLLATE "C"` // others may replace nothing
		}
		below := fmt.Sprintf("LENGTH(%s) - LENGTH(REPLACE(%s, '%s', '')) > %d AND %s <> ?", text, text, form.Separator, form.Separators()+1, text)
		all = append(all, unfilled{
			parent.Name, top + " AND " + below, []any{form.Print("")},
			"says that there is no row above, and its " + path.column + " that there is one", "moves and deletions of the rows above leave it behind",
		})
	}
	return all
}

// lacks returns those of some columns that the table does not have.
func (c *catalogue) lacks(columns []string) []string {
	return slices.DeleteFunc(columns, func(name string) bool { _, ok := c.columns[name]; return ok })
}

// anyRow reads an expression of a row of a condition, such as its key, and reports whether there is
// one.
func anyRow(ctx context.Context, conn Conn, d *dialect.Dialect, t Model, what, condition string, args ...any) (value string, has bool, err error) {
	rows, err := conn.QueryContext(ctx, d.Bind(fmt.Sprintf("SELECT %s FROM %s WHERE %s LIMIT 1", what, d.Quote(t.name()), condition)), args...)
	if err != nil {
		return "", false, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if has = rows.Next(); has {
		err = rows.Scan(&value)
	}
	return value, has, errors.Join(err, rows.Err())
}
