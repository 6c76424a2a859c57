package write

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// deleteBelow deletes the rows that match where, which are in ranges of the index over tree and
// path. It gives them marks or, if there are none, deletes as GORM would: softly, unless the
// statement is Unscoped or no type marks the rows. It returns their number.
func (s *statement) deleteBelow(where clause.Expression, marks clause.Set) (rows int64, err error) {
	t := s.Table
	if marks == nil && !s.DB.Statement.Unscoped {
		if marks, err = t.Marks(s.DB); err != nil {
			return 0, err
		}
	}
	err = t.OnPathIndex(s.DB, func(from table.Hinted) error {
		if marks == nil {
			rows, err = s.deleteForGood(from, where)
		} else {
			rows, err = t.Direct(s.DB).Add("UPDATE ? ? WHERE ?", from, marks, where).Exec()
		}
		return err
	})
	return rows, err
}

// deleteForGood removes the rows that match where. MySQL checks foreign keys row by row: if one of
// them requires it, deleteForGood removes the lowest rows first. It also counts the rows that ON
// DELETE CASCADE removes before the statement comes to them.
func (s *statement) deleteForGood(from, where clause.Expression) (int64, error) {
	t := s.Table
	name := clause.Table{Name: t.TableName}
	if !t.Dialect.ChildrenFirst {
		if t.Cascades && t.Dialect.HidesCascades {
			var rows int64
			if err := t.Direct(s.DB).Add("SELECT COUNT(*) FROM ? WHERE ?", from, where).One(&rows); err != nil {
				return 0, err
			}
			_, err := t.Direct(s.DB).Add("DELETE FROM ? WHERE ?", from, where).Exec()
			return rows, err
		}
		return t.Direct(s.DB).Add("DELETE FROM ? WHERE ?", from, where).Exec()
	}
	if !t.Cascades && !t.LearnedChildrenFirst.Load() {
		// In this form, a DELETE may name an index.
		rows, err := t.Direct(s.DB).Add("DELETE ? FROM ? WHERE ?", name, from, where).Exec()
		switch dialect.MySQLNumber(err) {
		case errRowReferenced, errRowReferenced2, errCascadeDepth, errCascadeDepthMariaDB:
		default:
			return rows, err
		}
		t.LearnedChildrenFirst.Store(true)
	}
	return t.Direct(s.DB).Add("DELETE FROM ? WHERE ? ORDER BY ? DESC", name, where, clause.Column{Name: t.Path.DBName}).Exec()
}

// The errors of MySQL and MariaDB for a row that other rows refer to.
const (
	errRowReferenced  = 1217 // ER_ROW_IS_REFERENCED
	errRowReferenced2 = 1451 // ER_ROW_IS_REFERENCED_2

	// A foreign key with ON DELETE CASCADE goes down 15 levels at most.
	errCascadeDepth        = 3008 // ER_FK_DEPTH_EXCEEDED
	errCascadeDepthMariaDB = 1296 // ER_GET_ERRMSG, as the engine's error 193
)

// removeDead deletes rows for good that were deleted softly before, the lower ones first.
func (s *statement) removeDead(dead map[any]*table.Node) error {
	t := s.Table
	nodes := slices.SortedFunc(maps.Values(dead), func(a, b *table.Node) int { return strings.Compare(b.Path, a.Path) })
	for chunk := range slices.Chunk(nodes, table.MaxPlaceholders) {
		ids := valuesOf(chunk, idOf)
		d := t.Direct(s.DB).Add("DELETE FROM ? WHERE ?", clause.Table{Name: t.TableName}, t.KeyIn(table.Column(t.Key), ids))
		if t.Dialect.ChildrenFirst {
			d.Add(" ORDER BY ? DESC", clause.Column{Name: t.Path.DBName})
		}
		if rows, err := d.Exec(); err != nil {
			return fmt.Errorf("gormplugin: deleting the rows that were deleted before: %w", err)
		} else if rows != int64(len(ids)) {
			return s.missed(int64(len(ids)), rows)
		}
	}
	return nil
}

// removeBelow deletes the descendants of rows that are being deleted, in the same way: softly, or
// for good if the statement is Unscoped. It returns their number. Descendants that were deleted
// before are not part of the tree, and stay as they are. Where there are marks, they get these.
func (s *statement) removeBelow(tops []*table.Node, marks clause.Set) (rows int64, err error) {
	t := s.Table
	if t.IsLeaf || len(tops) == 0 {
		return 0, nil
	}
	if some, err := s.anyBelow(tops); err != nil || !some {
		return 0, err
	}
	for chunk := range slices.Chunk(tops, maxRanges) {
		ranges := valuesOf(chunk, func(n *table.Node) clause.Expression { return t.Below(n.Tree, n.Path) })
		deleted, err := s.deleteBelow(t.Matching(table.AnyOf(ranges), false), marks)
		if err != nil {
			return rows, fmt.Errorf("gormplugin: deleting the rows below: %w", err)
		}
		rows += deleted
	}
	if rows == 0 && s.Asserts && !s.DB.DryRun {
		return 0, t.Damaged(tops[0].ID, errors.New("it, or another row of the statement, has children, but no row has a path below its own"))
	}
	return rows, nil
}
