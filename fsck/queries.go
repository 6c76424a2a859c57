package fsck

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// These checks leave the work to the database: each runs one statement, which sends only the rows
// with a problem.

// siblingGroup is what siblings have in common: the parent, or NULL for the rows at the top of the
// paths. These are the rows without a parent and the children of a root row: both have the path
// "/name".
func (c *catalogue) siblingGroup() string {
	cols, parent := c.columnsAs("c"), c.columnsAs("p")
	return fmt.Sprintf("CASE WHEN %s OR %s THEN NULL ELSE %s END", cols.isTop, parent.isRoot, cols.parent)
}

// siblings reports rows whose name equals that of a sibling, according to the database. If the
// bytes differ, the names are equal to the collation alone.
//
// The database sorts the rows by parent and name, once.
func (s *session) siblings(ctx context.Context, tree Key, report func(Problem) error) error {
	cols, parent, again, first := s.columnsAs("c"), s.columnsAs("p"), s.columnsAs("t"), s.columnsAs("f")
	// NULL equals no other name. Two root rows are another kind of problem.
	inTree, args := s.inTree(cols.tree, tree)
	where := fmt.Sprintf("%s AND %s IS NOT NULL AND NOT %s%s", cols.live, cols.name, cols.isRoot, inTree)
	query := fmt.Sprintf(`SELECT %[1]s, %[2]s, %[3]s, %[4]s, x.k1, %[11]s FROM (
			SELECT %[5]s AS k, FIRST_VALUE(%[5]s) OVER w AS k1, ROW_NUMBER() OVER w AS n
			FROM %[6]s AS c LEFT JOIN %[6]s AS p ON %[7]s = %[8]s AND %[12]s WHERE %[9]s
			WINDOW w AS (PARTITION BY %[13]s, %[10]s, %[14]s ORDER BY %[5]s)
		) AS x JOIN %[6]s AS t ON %[1]s = x.k JOIN %[6]s AS f ON %[15]s = x.k1 WHERE x.n > 1 ORDER BY %[1]s`,
		again.key, again.tree, again.name, again.path, cols.key, s.dialect.quote(s.table.Table), parent.key, cols.parent, where, s.siblingGroup(),
		first.name, parent.live, cols.tree, cols.name, first.key)
	var firstKey any
	var firstName sql.NullString
	return s.eachFound(ctx, query, args, []any{&firstKey, &firstName}, func(r *row) error {
		first, err := s.readKey(s.table.Key, firstKey)
		if err != nil {
			return err
		}
		p := r.problem(Duplicate, "its sibling %v has the same name", first)
		if name := s.unpadded(s.table.Name, firstName).String; r.name != name {
			p = r.problem(Lookalike, "to the collation, its name equals that of its sibling %v, %q", first, name)
		}
		p.Others = []Key{first}
		return report(*p)
	})
}

// besideRoots reports rows at the top of trees that have a root row. The database sorts the rows at
// the top, once.
func (s *session) besideRoots(ctx context.Context, tree Key, report func(Problem) error) error {
	cols, again := s.columnsAs("c"), s.columnsAs("t")
	inTree, args := s.inTree(cols.tree, tree)
	where := fmt.Sprintf("%s AND %s AND %s IS NOT NULL%s", cols.live, cols.isTop, cols.tree, inTree)
	rooted := fmt.Sprintf("CASE WHEN %s THEN 1 ELSE 0 END", cols.empty)
	query := fmt.Sprintf(`SELECT %[1]s, %[2]s, %[3]s, %[4]s, x.k1 FROM (
			SELECT %[5]s AS k, FIRST_VALUE(%[5]s) OVER w AS k1, FIRST_VALUE(%[6]s) OVER w AS rooted
			FROM %[7]s AS c WHERE %[8]s
			WINDOW w AS (PARTITION BY %[9]s ORDER BY %[6]s DESC, %[5]s)
		) AS x JOIN %[7]s AS t ON %[1]s = x.k WHERE x.rooted = 1 AND x.k <> x.k1 ORDER BY %[1]s`,
		again.key, again.tree, again.name, again.path, cols.key, rooted, s.dialect.quote(s.table.Table), where, cols.tree)
	var rootKey any
	return s.eachFound(ctx, query, args, []any{&rootKey}, func(r *row) error {
		root, err := s.readKey(s.table.Key, rootKey)
		if err != nil {
			return err
		}
		p := r.problem(BesideRoot, "it has no parent, and the tree has the root row %v", root)
		p.Others = []Key{root}
		return report(*p)
	})
}

// mixed reports rows whose children carry another prefix.
func (s *session) mixed(ctx context.Context, tree Key, report func(Problem) error) error {
	if s.table.Path == "" {
		return nil
	}
	cols, parent, d := s.columnsAs("c"), s.columnsAs("p"), s.dialect
	inTree, args := s.inTree(cols.tree, tree)
	where := strings.Join([]string{
		cols.live, parent.live, parent.tree + " = " + cols.tree,
		d.exact(cols.path) + " <> " + d.exact(d.concat(parent.path, "'/'", cols.name)),
		d.exact(d.ending(cols.path, cols.name)) + " = " + d.exact(d.concat("'/'", cols.name)),
	}, " AND ") + inTree
	query := fmt.Sprintf(`SELECT p.*, m.children FROM (
			SELECT %[1]s AS k, COUNT(*) AS children FROM %[2]s AS c JOIN %[2]s AS p ON %[1]s = %[3]s WHERE %[4]s GROUP BY %[1]s
		) AS m JOIN (SELECT %[1]s AS k, %[5]s AS tree, %[6]s AS name, %[7]s AS path FROM %[2]s AS p) AS p ON p.k = m.k ORDER BY p.k`,
		parent.key, d.quote(s.table.Table), cols.parent, where, parent.tree, parent.name, parent.path)
	var children int64
	return s.eachFound(ctx, query, args, []any{&children}, func(r *row) error {
		return report(*r.problem(MixedPrefix, "%d of its children carry another prefix than its path", children))
	})
}

// eachFound runs a query for rows, and calls f for each. The query selects key, tree, name and
// path, then what further receives.
func (s *session) eachFound(ctx context.Context, query string, args, further []any, f func(*row) error) error {
	return s.each(ctx, query, args, func(scan func(...any) error) error {
		var key, tree any
		var name, path sql.NullString
		if err := scan(append([]any{&key, &tree, &name, &path}, further...)...); err != nil {
			return err
		}
		r := &row{name: s.unpadded(s.table.Name, name).String, nullName: !name.Valid, path: s.unpadded(s.table.Path, path)}
		var err error
		if r.key, err = s.readKey(s.table.Key, key); err != nil {
			return err
		}
		if r.tree, err = s.readKey(s.table.Tree, tree); err != nil {
			return err
		}
		return f(r)
	})
}
