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
	// Tree and Parent are what the siblings have in common; Parent is "" at the top, and Tree for leaves.
	Tree, Parent string
	// Name is their name, Rows how many they are.
	Name string
	Rows int
}

// String says where the duplicate is.
func (d Duplicate) String() string {
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
		p, err := d.read(ctx, conn, t.Name)
		if err != nil {
			return nil, err
		}
		if c := (&checker{dialect: d, table: t, physical: p}); !c.exists() || !c.isTable() || !c.complete() {
			continue
		}
		records, err := ask(ctx, conn, duplicatesQuery(d, t, limit))
		if err != nil {
			return nil, fmt.Errorf("treeschema: looking for duplicates in %s: %w", t.Name, err)
		}
		for _, r := range records {
			rows, _ := strconv.Atoi(r["siblings"])
			all = append(all, Duplicate{Table: t.Name, Tree: r["tree"], Parent: r["parent"], Name: r["name"], Rows: rows})
		}
	}
	return all, nil
}

// duplicatesQuery groups the live rows by what siblings of one name have in common, byte by byte.
func duplicatesQuery(d dialect, t Table, limit int) string {
	name := d.quote(t.Label.Column)
	key := []string{d.quote(t.Parent), d.bytes(name)}
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
		tree, d.quote(t.Parent), name, d.quote(t.Name), where, strings.Join(key, ", "), limit)
}
