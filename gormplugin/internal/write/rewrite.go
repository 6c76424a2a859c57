package write

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// rewriteMoved gives the descendants of the rows that an UPDATE has moved their new paths. From
// here on a failure leaves the subtree inconsistent. So it rolls the transaction back, even if the
// caller ignores the error.
func (e *Engine) rewriteMoved(db *gorm.DB, tx *txn.Transaction, t *table.Table, moves []plan.Move) error {
	// A row that keeps its path while one above it moves was set aside before, and moves back.
	moves = lowestFirst(moves)
	for _, same := range []bool{false, true} {
		some := slices.DeleteFunc(slices.Clone(moves), func(m plan.Move) bool { return m.SamePaths != same || !m.Rewrites() })
		for chunk := range slices.Chunk(some, maxRanges) {
			if err := e.rewrite(db, t, chunk, !same); err != nil {
				err = fmt.Errorf("gormplugin: rewriting the paths below %q: %w", chunk[0].Node.Path, err)
				tx.Abandon(err)
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
func (e *Engine) rewrite(db *gorm.DB, t *table.Table, moves []plan.Move, counts bool) error {
	ranges := make([]clause.Expression, len(moves))
	for i, m := range moves {
		ranges[i] = t.Below(m.Tree, m.Node.Path)
	}
	return t.OnPathIndex(db, func(from table.Hinted) error {
		d := t.Direct(db).Add("UPDATE ? SET ", from)
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

// relocation is what an UPDATE does to the tree.
type relocation struct {
	*plan.Relocation
	assignment *assignment
}

// relocationBy works out what an assignment does to the rows that it hits. known are rows of the
// table above that need not be read again.
func (e *Engine) relocationBy(db *gorm.DB, t *table.Table, a *assignment, hit plan.Hits, known map[any]*table.Node, lock string) (*relocation, error) {
	if err := cmp.Or(t.CheckChange(&a.Change, hit), operationOf(db).missed(t, len(hit.Live))); err != nil {
		return nil, err
	}
	affected := a.Affected(hit)
	var ids []any
	for _, n := range affected {
		ids = append(ids, n.Parent, a.ParentOf(n))
	}
	if !t.IsLeaf {
		all := maps.Clone(affected)
		maps.Copy(all, known)
		known = all
	}
	parents, err := t.Above.Rows(db, known, ids, lock)
	if err == nil {
		a, parents, err = placed(db, t, a, hit, parents, lock)
	}
	if err != nil {
		return nil, err
	}
	x, err := t.Update(&a.Change, hit, parents)
	return &relocation{x, a}, err
}

// placed looks up a parent that the assignment states by a path. It returns the assignment with
// that parent's key, and the rows above with that parent.
func placed(db *gorm.DB, t *table.Table, a *assignment, hit plan.Hits, above map[any]*table.Node, lock string) (*assignment, map[any]*table.Node, error) {
	goal, ok, err := t.Goal(&a.Change, hit, above)
	if err != nil || !ok {
		return a, above, err
	}
	if err := t.IsWritable(t.Parent); err != nil {
		return nil, nil, err
	}
	at, above, err := t.Above.AtPaths(db, above, []plan.Spot{goal}, lock)
	if err != nil {
		return nil, nil, err
	}
	b := *a
	b.Change, err = t.Reach(a.Change, at[goal])
	return &b, above, err
}

// hasVersion reports whether all rows that the update hits have the version.
func (x *relocation) hasVersion(version any) bool {
	for _, n := range x.Live {
		if version != n.Version {
			return false
		}
	}
	return true
}

// hasOutdatedPath reports whether the update states a path that a row does not have.
func (x *relocation) hasOutdatedPath(t *table.Table) bool {
	for _, n := range x.Live {
		if !t.AsStated(n, x.assignment.Path, x.assignment.IDs) {
			return true
		}
	}
	return false
}
