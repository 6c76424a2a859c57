package treeschema

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Duplicate is a name that several live siblings share, to the column's collation. No unique index
// can be made over such rows.
type Duplicate struct {
	Table string
	// Tree and Parent are what the siblings have in common. Parent is "" at the top, Tree is "" for
	// leaves.
	Tree, Parent string
	// Name is the name of one of them, Rows is their number.
	Name string
	Rows int
	// Path is set, instead of Name, for rows with one path that are not siblings with one name.
	Path string
}

// String says where the duplicate is.
func (d Duplicate) String() string {
	if d.Path != "" {
		return fmt.Sprintf("%s: %d rows with the path %q (tree %q)", d.Table, d.Rows, d.Path, d.Tree)
	}
	return fmt.Sprintf("%s: %d rows named %q below %q (tree %q)", d.Table, d.Rows, d.Name, d.Parent, d.Tree)
}

// Duplicates returns names that several live siblings share, at most limit for each table. A table
// that does not exist yet, or lacks a column, has none.
func Duplicates(ctx context.Context, conn Conn, dialectName string, tables []Table, limit int) ([]Duplicate, error) {
	var all []Duplicate
	err := eachTable(ctx, conn, dialectName, tables, func(c *checker) error {
		if what, _, _ := c.missing(); what != "" {
			return nil
		}
		t, parent := c.table, c.quote1(c.table.Parent)
		if t.Tree != "" {
			// Rows at the top are siblings, however their parent says that there is none.
			parent = "CASE WHEN " + c.noParent(c.columns[t.Parent]) + " THEN NULL ELSE " + parent + " END"
		}
		found, err := c.duplicates(ctx, conn, parent, t.Name.Column, limit)
		// Siblings with one name have one path, too. That matters if there will be a unique index.
		if err == nil && len(found) == 0 && len(t.Paths) > 0 && !t.Paths[0].OfIDs &&
			!slices.ContainsFunc(c.indexes, func(i index) bool { return c.leadsTo(i, t.Paths[0]) }) {
			found, err = c.duplicates(ctx, conn, "NULL", t.Paths[0].Column, limit)
			for i := range found {
				found[i].Path, found[i].Name = found[i].Name, ""
			}
		}
		all = append(all, found...)
		return err
	})
	return all, err
}

// duplicates groups the live rows by tree, parent and a text. Its columns have one type, whatever
// the table's have: PostgreSQL refuses a statement that was prepared for others.
func (c *checker) duplicates(ctx context.Context, conn Conn, parent, text string, limit int) ([]Duplicate, error) {
	typ := "TEXT"
	if c.dialect == mysql {
		typ = "CHAR"
	}
	key, tree := c.parts([]string{text}), "''"
	if parent != "NULL" {
		key = append(key, parent)
	}
	if c.table.Tree != "" {
		tree = c.quote1(c.table.Tree)
		key = append(key, tree)
	}
	records, err := rowsOf(ctx, conn, fmt.Sprintf(
		"SELECT CAST(%s AS %s) AS tree, MIN(CAST(%s AS %[2]s)) AS parent, MIN(CAST(%[4]s AS %[2]s)) AS text, COUNT(*) AS number FROM %[5]s%[6]s GROUP BY %[7]s HAVING COUNT(*) > 1 ORDER BY 1, 2, 3 LIMIT %[8]d",
		tree, typ, parent, c.quote1(text), c.quote(c.table.Table), c.table.live(" WHERE ", c.quote1), strings.Join(key, ", "), limit))
	if err != nil {
		return nil, fmt.Errorf("treeschema: looking for duplicates in %s: %w", c.table.Table, err)
	}
	all := make([]Duplicate, len(records))
	for i, r := range records {
		number, _ := strconv.Atoi(r["number"])
		all[i] = Duplicate{Table: c.table.Table, Tree: r["tree"], Parent: r["parent"], Name: r["text"], Rows: number}
	}
	return all, nil
}
