package fsck

import (
	"context"
	"database/sql"
	"fmt"
)

// siblingGroup is what siblings have in common: the parent, and NULL for all that are at the top of
// the paths, namely the rows without a parent and the children of a root row. Both have the path
// "/name".
func (c *catalogue) siblingGroup() string {
	row, parent := c.columnsAs("c"), c.columnsAs("p")
	return fmt.Sprintf("CASE WHEN %s OR %s THEN NULL ELSE %s END", row.isTop, parent.isRoot, row.parent)
}

// siblings reports rows that have the same name as a sibling, by the database's own notion of
// the same. Where the bytes differ, it is the collation alone that holds them equal.
//
// The database sorts the rows by parent and name, once, and sends the redundant ones only.
func (s *session) siblings(ctx context.Context, tree Key, report func(Problem) error) error {
	row, parent, again := s.columnsAs("c"), s.columnsAs("p"), s.columnsAs("t")
	table := s.dialect.quote(s.table.Table)
	// A row without a name has none that another could have, and a second root row is another kind
	// of problem.
	where := fmt.Sprintf("%s AND %s IS NOT NULL AND NOT %s", row.live, row.name, row.isRoot)
	var args []any
	if !tree.IsZero() {
		where += " AND " + row.tree + " = ?"
		args = append(args, s.treeArg(tree))
	}
	// NULL marks the rows at the top.
	query := fmt.Sprintf(`SELECT %[1]s, %[2]s, %[3]s, %[4]s, x.k1, %[11]s FROM (
			SELECT %[5]s AS k, FIRST_VALUE(%[5]s) OVER w AS k1, ROW_NUMBER() OVER w AS n
			FROM %[6]s AS c LEFT JOIN %[6]s AS p ON %[7]s = %[8]s AND %[12]s WHERE %[9]s
			WINDOW w AS (PARTITION BY %[13]s, %[10]s, %[14]s ORDER BY %[5]s)
		) AS x JOIN %[6]s AS t ON %[1]s = x.k JOIN %[6]s AS f ON %[15]s = x.k1 WHERE x.n > 1 ORDER BY %[1]s`,
		again.key, again.tree, again.name, again.path, row.key, table, parent.key, row.parent, where, s.siblingGroup(),
		s.columnsAs("f").name, parent.live, row.tree, row.name, s.columnsAs("f").key)
	return s.each(ctx, query, args, func(scan func(...any) error) error {
		r := newScan(s.catalogue)
		var firstKey any
		var firstName sql.NullString
		if err := scan(r.dest(&firstKey, &firstName)...); err != nil {
			return fmt.Errorf("fsck: read %s: %w", s.table.Table, err)
		}
		row, err := r.row()
		if err != nil {
			return err
		}
		first, err := s.readKey(s.table.Key, firstKey)
		if err != nil {
			return err
		}
		firstName = s.unpadded(s.table.Name, firstName)
		p := row.problem(Duplicate, "its sibling %v has the same name", first)
		if row.name != firstName.String {
			p = row.problem(Lookalike, "to the collation, its name equals that of its sibling %v, %q", first, firstName.String)
		}
		p.Others = []Key{first}
		return report(*p)
	})
}

// besideRoots reports rows at the top of trees that have a root row. The database sorts the rows at
// the top, once.
func (s *session) besideRoots(ctx context.Context, tree Key, report func(Problem) error) error {
	row, again := s.columnsAs("c"), s.columnsAs("t")
	where := fmt.Sprintf("%s AND %s AND %s IS NOT NULL", row.live, row.isTop, row.tree)
	var args []any
	if !tree.IsZero() {
		where += " AND " + row.tree + " = ?"
		args = append(args, s.treeArg(tree))
	}
	rooted := fmt.Sprintf("CASE WHEN %s THEN 1 ELSE 0 END", row.empty)
	query := fmt.Sprintf(`SELECT %[1]s, %[2]s, %[3]s, %[4]s, x.k1 FROM (
			SELECT %[5]s AS k, FIRST_VALUE(%[5]s) OVER w AS k1, FIRST_VALUE(%[6]s) OVER w AS rooted
			FROM %[7]s AS c WHERE %[8]s
			WINDOW w AS (PARTITION BY %[9]s ORDER BY %[6]s DESC, %[5]s)
		) AS x JOIN %[7]s AS t ON %[1]s = x.k WHERE x.rooted = 1 AND x.k <> x.k1 ORDER BY %[1]s`,
		again.key, again.tree, again.name, again.path, row.key, rooted, s.dialect.quote(s.table.Table), where, row.tree)
	return s.each(ctx, query, args, func(scan func(...any) error) error {
		r := newScan(s.catalogue)
		var rootKey any
		if err := scan(r.dest(&rootKey)...); err != nil {
			return fmt.Errorf("fsck: read %s: %w", s.table.Table, err)
		}
		row, err := r.row()
		if err != nil {
			return err
		}
		root, err := s.readKey(s.table.Key, rootKey)
		if err != nil {
			return err
		}
		p := row.problem(BesideRoot, "it has no parent, and the tree has the root row %v", root)
		p.Others = []Key{root}
		return report(*p)
	})
}
