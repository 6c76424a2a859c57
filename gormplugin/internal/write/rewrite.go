package write

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm/clause"
)

// rewriteMoved gives the descendants of the rows that an UPDATE has moved their new paths. From
// here on a failure leaves the subtree inconsistent. So it rolls the transaction back, even if the
// caller ignores the error.
func (s *statement) rewriteMoved(moves []plan.Move) error {
	// A row that keeps its path while one above it moves was set aside before, and moves back.
	moves = lowestFirst(moves)
	for _, same := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(moves), func(m plan.Move) bool { return m.SamePaths != same || !m.Rewrites() })
		for chunk := range slices.Chunk(some, maxRanges) {
			if err := s.rewrite(chunk, !same); err != nil {
				err = fmt.Errorf("gormplugin: rewriting the paths below %q: %w", chunk[0].Node.Path, err)
				s.tx.Fail(err)
				return err
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
	t, ranges := s.Table, make([]clause.Expression, len(moves))
	for i, m := range moves {
		ranges[i] = t.Below(m.Tree, m.Node.Path)
	}
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
