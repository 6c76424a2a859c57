package write

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"gorm.io/gorm/clause"
)

// rewriteMoved gives the descendants of the rows that an UPDATE has moved their new paths.
func (s *statement) rewriteMoved(moves []plan.Move) error {
	// A row that keeps its path while one above it moves was set aside before, and moves back.
	moves = lowestFirst(moves)
	for _, same := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(moves), func(m plan.Move) bool { return m.SamePaths != same || !m.Rewrites() })
		for chunk := range slices.Chunk(some, maxRanges) {
			if err := s.rewrite(chunk, !same); err != nil {
				return fmt.Errorf("gormplugin: rewriting the paths below %q: %w", chunk[0].Node.Path, err)
			}
		}
	}
	return nil
}

// lowestFirst returns the moves that rows below may follow. If one moved row lies below another,
// the rows below both follow the lower one. So it comes first, even if its own path stays the same.
func lowestFirst(moves []plan.Move) []plan.Move {
	moves = slices.DeleteFunc(slices.Clone(moves), func(m plan.Move) bool { return m.Restored })
	slices.SortFunc(moves, func(a, b plan.Move) int { return cmp.Compare(len(b.Node.Path), len(a.Node.Path)) })
	return moves
}

// rewrite moves subtrees, without their top rows, in one statement. If counts is set, it increments
// the versions of their rows, too.
func (s *statement) rewrite(moves []plan.Move, counts bool) error {
	t := s.Table
	ranges := valuesOf(moves, func(m plan.Move) clause.Expression { return t.Below(m.Tree, m.Node.Path) })
	return t.OnPathIndex(s.DB, func(from table.Hinted) error {
		d := t.Direct(s.DB).Add("UPDATE ? SET ", from)
		if t.Version != nil && counts {
			d.Add("? = ? + 1, ", clause.Column{Name: t.Version.DBName}, table.Column(t.Version))
		}
		for i, f := range t.Following {
			if i > 0 {
				d.Add(", ")
			}
			d.Add("? = ?", clause.Column{Name: f.DBName}, rewritten(f, moves, ranges))
		}
		_, err := d.Add(" WHERE ?", t.Matching(table.AnyOf(ranges), false)).Exec()
		return err
	})
}

// rewritten is the new value of a column in the ranges of rows that belong to the moves.
func rewritten(f table.Following, moves []plan.Move, ranges []clause.Expression) clause.Expression {
	if len(moves) == 1 {
		return f.Moved(moves[0])
	}
	branches := clause.Expr{SQL: "CASE" + strings.Repeat(" WHEN ? THEN ?", len(moves)) + " ELSE ? END"}
	for i, m := range moves {
		branches.Vars = append(branches.Vars, ranges[i], f.Moved(m))
	}
	branches.Vars = append(branches.Vars, table.Column(f.Field))
	return branches
}

// A leaf with a path column is found through the row above. So no leaf of another tree, which may
// have the same path, is touched or locked, and it does not matter what the column has held before.
// Whoever gives a leaf a place has locked all rows above for sharing, and so waits for a move, or
// the move for it.

// rewriteLeaves gives the leaves below the rows that an UPDATE has moved, or brought back, their
// paths. A row that was deleted has kept an old path, and so have its leaves, except for a row that
// stays a root row, whose path is always empty.
func (s *statement) rewriteLeaves(moves []plan.Move) error {
	for _, leaf := range s.Table.Leaves {
		concerned := slices.DeleteFunc(slices.Clone(moves), func(m plan.Move) bool {
			return m.Path == "" && m.After.Path == "" || !m.Restored && !slices.ContainsFunc(leaf.LeafPaths, func(p table.LeafPath) bool { from, to := p.FromTo(m); return from != to })
		})
		tops := valuesOf(concerned, func(m plan.Move) *table.Node { return m.After })
		if err := s.followSubtrees(leaf, tops, true); err != nil {
			return err
		}
	}
	return nil
}

// adoptLeaves writes the paths of leaves below new rows whose keys the caller has stated. A new row
// has leaves if a row with the same key was deleted for good, and left them behind. No plain read
// says whether there are any: a snapshot may be older than they are, and a dirty read misses those
// whose deletion is rolled back.
func (s *statement) adoptLeaves(ids []any) error {
	for _, leaf := range s.Table.Leaves {
		for chunk := range slices.Chunk(ids, maxRanges) {
			if err := s.followAbove(leaf, table.Selection{Keys: chunk}, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// followSubtrees is followAbove for the leaves below rows, and below those below them.
func (s *statement) followSubtrees(leaf *table.Table, tops []*table.Node, again bool) error {
	for chunk := range slices.Chunk(uppermost(tops), maxRanges) {
		ranges := valuesOf(chunk, func(n *table.Node) clause.Expression { return leaf.Above.Within(n.Tree, n.ID, n.Path) })
		if err := s.followAbove(leaf, table.Selection{Where: table.AnyOf(ranges)}, again); err != nil {
			return err
		}
	}
	return nil
}

// followAbove gives the leaves below rows of the table above the paths that follow from these. It
// increments their versions if they had a path before. The database refuses paths for which there
// is no room.
func (s *statement) followAbove(leaf *table.Table, rows table.Selection, again bool) error {
	var set clause.Set
	if leaf.Version != nil && again {
		next := clause.Expr{SQL: "? + 1", Vars: []any{clause.Column{Table: "c", Name: leaf.Version.DBName}}}
		set = append(set, clause.Assignment{Column: clause.Column{Name: leaf.Version.DBName}, Value: next})
	}
	for _, p := range leaf.LeafPaths {
		set = append(set, clause.Assignment{Column: clause.Column{Name: p.Column.DBName}, Value: leaf.Follows(p)})
	}
	if s.Dialect.AssignQualifies {
		for i := range set {
			set[i].Column.Table = "c"
		}
	}
	err := leaf.OnLeaves(s.DB, rows, func(above, leaves, where clause.Expression) error {
		_, err := leaf.Direct(s.DB).Add("?", clause.NamedExpr{SQL: s.Dialect.AssignBelow, Vars: []any{map[string]any{
			"table": leaves, "others": above, "set": set, "belongs": joinsParent(leaf), "where": where,
		}}}).Exec()
		if err == nil && s.Dialect.AnyLength {
			err = s.checkLeafRoom(leaf, clause.Expr{SQL: "? JOIN ? ON ? WHERE ?", Vars: []any{above, leaves, joinsParent(leaf), where}})
		}
		return err
	})
	if s.Dialect.Classify(err) == dialect.FailureUnfit {
		err = fmt.Errorf("%w: %w", fault.ErrPathTooLong, err)
	}
	if err != nil {
		return fmt.Errorf("gormplugin: writing the paths of %s: %w", leaf.TableName, err)
	}
	return nil
}

// uppermost leaves out the rows that lie below others of them.
func uppermost(rows []*table.Node) []*table.Node {
	among := make(map[plan.Spot]bool, len(rows))
	for _, n := range rows {
		among[plan.Spot{Tree: n.Tree, Path: n.Path}] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(n *table.Node) bool {
		for above := range (plan.Spot{Tree: n.Tree, Path: n.Path}).Above() {
			if among[above] {
				return true
			}
		}
		return false
	})
}

// joinsParent is the condition that a row, called p, is the parent of a leaf, called c.
func joinsParent(leaf *table.Table) clause.Expression {
	return clause.Eq{Column: clause.Column{Table: "c", Name: leaf.Parent.DBName}, Value: clause.Column{Table: "p", Name: leaf.Above.Key.DBName}}
}

// checkLeafRoom refuses paths of leaves that are longer than their columns say.
func (s *statement) checkLeafRoom(leaf *table.Table, written clause.Expr) error {
	for _, p := range leaf.LeafPaths {
		if p.Room.Size == 0 {
			continue
		}
		path := clause.Column{Table: "c", Name: p.Column.DBName}
		err := leaf.Direct(s.DB).Add("SELECT ? FROM ? AND "+leaf.Dialect.Length+"(?) > ? LIMIT 1", path, written, path, p.Room.Size).Query(func(rows *sql.Rows) error {
			var stored string
			if err := rows.Scan(&stored); err != nil {
				return err
			}
			return p.Room.Fits(utf8.RuneCountInString(stored), stored)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
