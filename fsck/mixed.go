package fsck

import (
	"context"
	"fmt"
	"strings"
)

// mixed reports rows whose children carry another prefix.
func (s *session) mixed(ctx context.Context, tree Key, report func(Problem) error) error {
	if s.table.Path == "" {
		return nil
	}
	row, parent := s.columnsAs("c"), s.columnsAs("p")
	d, table := s.dialect, s.dialect.quote(s.table.Table)
	conditions := []string{
		row.live, parent.live, parent.tree + " = " + row.tree,
		d.exact(row.path) + " <> " + d.exact(d.concat(parent.path, "'/'", row.name)),
		d.exact(d.ending(row.path, row.name)) + " = " + d.exact(d.concat("'/'", row.name)),
	}
	var args []any
	if !tree.IsZero() {
		conditions = append(conditions, row.tree+" = ?")
		args = append(args, s.treeArg(tree))
	}
	query := fmt.Sprintf(`SELECT p.*, m.children FROM (
			SELECT %[1]s AS k, COUNT(*) AS children FROM %[2]s AS c JOIN %[2]s AS p ON %[1]s = %[3]s WHERE %[4]s GROUP BY %[1]s
		) AS m JOIN (SELECT %[1]s AS k, %[5]s AS tree, %[6]s AS name, %[7]s AS path FROM %[2]s AS p) AS p ON p.k = m.k ORDER BY p.k`,
		parent.key, table, row.parent, strings.Join(conditions, " AND "), parent.tree, parent.name, parent.path)
	return s.each(ctx, query, args, func(scan func(...any) error) error {
		r, children := newScan(s.catalogue), int64(0)
		if err := scan(r.dest(&children)...); err != nil {
			return fmt.Errorf("fsck: read %s: %w", s.table.Table, err)
		}
		row, err := r.row()
		if err != nil {
			return err
		}
		return report(*row.problem(MixedPrefix, "%d of its children carry another prefix than its path", children))
	})
}
