package treeschema

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Duplicate is a name that several live siblings share. No unique index can be made over such rows.
type Duplicate struct {
	Table string
	// Tree and Parent are what the siblings have in common. Parent is "" at the top, Tree is "" for
	// leaves.
	Tree, Parent string
	// Name is their name, Rows is their number.
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
		if !c.exists() || !c.isTable() || !c.complete() {
			return nil
		}
		t := c.table
		records, err := ask(ctx, conn, c.physical.asOf(duplicatesQuery(c, t, c.physical, c.bytes(c.quote(t.Name.Column)), limit)))
		if err != nil {
			return fmt.Errorf("treeschema: looking for duplicates in %s: %w", t.Table, err)
		}
		for _, r := range records {
			rows, _ := strconv.Atoi(r["siblings"])
			all = append(all, Duplicate{Table: t.Table, Tree: r["tree"], Parent: r["parent"], Name: r["name"], Rows: rows})
		}
		if len(records) > 0 {
			return nil // siblings with one name have one path, too
		}
		twins, err := c.twins(ctx, limit)
		if err != nil {
			return fmt.Errorf("treeschema: looking for duplicates in %s: %w", t.Table, err)
		}
		all = append(all, twins...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// duplicatesQuery groups the live rows by tree, parent and name. by is the expression that says
// which names are equal.
func duplicatesQuery(d dialect, t Table, p *physical, by string, limit int) string {
	name, parent := d.quote(t.Name.Column), d.quote(t.Parent)
	if t.Tree != "" {
		// Rows at the top are siblings, however their parent says that there is none.
		parent = "CASE WHEN " + noParent(d, t, p) + " THEN NULL ELSE " + parent + " END"
	}
	key := []string{parent, by}
	tree := "''"
	if t.Tree != "" {
		tree = d.quote(t.Tree)
		key = append(key, tree)
	}
	return fmt.Sprintf("SELECT %s AS tree, %s AS parent, MIN(%s) AS name, COUNT(*) AS siblings FROM %s%s GROUP BY %s HAVING COUNT(*) > 1 ORDER BY 2, 3 LIMIT %d",
		tree, parent, name, d.quote(t.Table), t.live(" WHERE ", d.quote), strings.Join(key, ", "), limit)
}

// twins returns paths that several live rows of a tree share. It looks only if there is no index
// over tree and path yet, since the one that will be made is unique.
func (c *checker) twins(ctx context.Context, limit int) ([]Duplicate, error) {
	t := c.table
	if len(t.Paths) == 0 || t.Paths[0].OfIDs {
		return nil, nil
	}
	for _, i := range c.physical.indexes {
		if leads, err := c.leadsTo(ctx, i, t.Paths[0]); err != nil || leads {
			return nil, err
		}
	}
	tree, path := c.quote(t.Tree), c.quote(t.Paths[0].Column)
	records, err := ask(ctx, c.conn, c.physical.asOf(fmt.Sprintf("SELECT %s AS tree, MIN(%s) AS path, COUNT(*) AS twins FROM %s%s GROUP BY %s, %s HAVING COUNT(*) > 1 ORDER BY 1, 2 LIMIT %d",
		tree, path, c.quote(t.Table), t.live(" WHERE ", c.quote), tree, c.bytes(path), limit)))
	if err != nil {
		return nil, err
	}
	var all []Duplicate
	for _, r := range records {
		rows, _ := strconv.Atoi(r["twins"])
		all = append(all, Duplicate{Table: t.Table, Tree: r["tree"], Path: r["path"], Rows: rows})
	}
	return all, nil
}

// lookalike returns a name that the column's collation treats as equal to a sibling's, though the
// plugin tells the two apart; "" if there is none. It looks only if the column keeps its collation.
func (c *checker) lookalike(ctx context.Context) (string, error) {
	col := c.physical.columns[c.table.Name.Column]
	if col.equal >= ordered || slices.Contains(c.mended, col.name) || c.name() == "sqlite" {
		return "", nil // in SQLite, an index has its own collation
	}
	query := duplicatesQuery(c, c.table, c.physical, c.quote(col.name), 1)
	records, err := ask(ctx, c.conn, c.physical.asOf(query))
	if err != nil || len(records) == 0 {
		return "", err
	}
	return records[0]["name"], nil
}
