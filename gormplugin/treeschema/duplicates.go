package treeschema

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Duplicate is a name that several live siblings have: rows on which no unique index can be made.
type Duplicate struct {
	Table string
	// Tree and Parent are what the siblings have in common; Parent is "" at the top, and Tree for
	// leaves.
	Tree, Parent string
	// Name is their name, Rows how many they are.
	Name string
	Rows int
	// Path is set, and Name is not, for rows that have one path, though they are no siblings of one
	// name.
	Path string
}

// String says where the duplicate is.
func (d Duplicate) String() string {
	if d.Path != "" {
		return fmt.Sprintf("%s: %d rows with the path %q (tree %q)", d.Table, d.Rows, d.Path, d.Tree)
	}
	return fmt.Sprintf("%s: %d rows named %q below %q (tree %q)", d.Table, d.Rows, d.Name, d.Parent, d.Tree)
}

// Duplicates returns names that several live siblings have, at most limit of each table. A
// table that is not there yet, or lacks a column, has none.
func Duplicates(ctx context.Context, conn Conn, dialectName string, tables []Table, limit int) ([]Duplicate, error) {
	d, err := dialectOf(dialectName)
	if err != nil {
		return nil, err
	}
	var all []Duplicate
	for _, t := range tables {
		p, err := d.read(ctx, conn, t.Table)
		if err != nil {
			return nil, err
		}
		c := &checker{dialect: d, conn: conn, table: t, physical: p}
		if !c.exists() || !c.isTable() || !c.complete() {
			continue
		}
		records, err := ask(ctx, conn, p.asOf(duplicatesQuery(d, t, p, d.bytes(d.quote(t.Name.Column)), limit)))
		if err != nil {
			return nil, fmt.Errorf("treeschema: looking for duplicates in %s: %w", t.Table, err)
		}
		for _, r := range records {
			rows, _ := strconv.Atoi(r["siblings"])
			all = append(all, Duplicate{Table: t.Table, Tree: r["tree"], Parent: r["parent"], Name: r["name"], Rows: rows})
		}
		if len(records) > 0 {
			continue // they have one path, too
		}
		twins, err := c.twins(ctx, limit)
		if err != nil {
			return nil, fmt.Errorf("treeschema: looking for duplicates in %s: %w", t.Table, err)
		}
		all = append(all, twins...)
	}
	return all, nil
}

// duplicatesQuery groups the live rows by what siblings of one name have in common. by is the
// expression for the name by which names are held equal.
func duplicatesQuery(d dialect, t Table, p *physical, by string, limit int) string {
	name, parent := d.quote(t.Name.Column), d.quote(t.Parent)
	if t.Tree != "" {
		// Rows that say in different ways that they have no parent are siblings.
		parent = "CASE WHEN " + noParent(d, t, p) + " THEN NULL ELSE " + parent + " END"
	}
	key := []string{parent, by}
	tree := "''"
	if t.Tree != "" {
		tree = d.quote(t.Tree)
		key = append(key, tree)
	}
	where := ""
	if live := t.live(d.quote); live != "" {
		where = " WHERE " + live
	}
	return fmt.Sprintf("SELECT %s AS tree, %s AS parent, MIN(%s) AS name, COUNT(*) AS siblings FROM %s%s GROUP BY %s HAVING COUNT(*) > 1 ORDER BY 2, 3 LIMIT %d",
		tree, parent, name, d.quote(t.Table), where, strings.Join(key, ", "), limit)
}

// twins are paths that several live rows of a tree have, where there is no index over tree and path
// yet: the one that is to be made is unique.
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
	tree, path, where := c.quote(t.Tree), c.quote(t.Paths[0].Column), ""
	if live := t.live(c.quote); live != "" {
		where = " WHERE " + live
	}
	records, err := ask(ctx, c.conn, c.physical.asOf(fmt.Sprintf("SELECT %s AS tree, MIN(%s) AS path, COUNT(*) AS twins FROM %s%s GROUP BY %s, %s HAVING COUNT(*) > 1 ORDER BY 1, 2 LIMIT %d",
		tree, path, c.quote(t.Table), where, tree, c.bytes(path), limit)))
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
