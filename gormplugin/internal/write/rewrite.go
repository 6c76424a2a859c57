package write

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// rewriteMoved gives the descendants of the rows that an UPDATE has moved their new paths. From
// here on, a failure leaves the subtree torn apart: the transaction is rolled back, and not left to
// a caller who may ignore the error.
func (p *Planner) rewriteMoved(db *gorm.DB, tx *txn.Transaction, t *table.Table, moves []move) error {
	moves = slices.DeleteFunc(slices.Clone(moves), func(m move) bool {
		return m.restored || m.Node.Path == m.path && m.Node.IDs == m.ids
	})
	// Where one moved row lies below another, what is below it follows the lower one.
	slices.SortFunc(moves, func(a, b move) int { return cmp.Compare(len(b.Node.Path), len(a.Node.Path)) })
	for chunk := range slices.Chunk(moves, maxRanges) {
		if err := p.rewrite(db, t, chunk); err != nil {
			err = fmt.Errorf("gormplugin: rewriting the paths below %q: %w", chunk[0].Node.Path, err)
			cause := err
			if p.Dialect.Classify(err).IsRetryable() {
				cause = fault.Retry(err)
			}
			tx.Abandon(cause)
			return cause
		}
	}
	return nil
}

// rewrite moves subtrees, without their top rows, in one statement.
func (p *Planner) rewrite(db *gorm.DB, t *table.Table, moves []move) error {
	ranges := make([]clause.Expression, len(moves))
	for i, m := range moves {
		ranges[i] = t.Below(m.Tree, m.Node.Path)
	}
	return t.OnPathIndex(db, func(from table.Hinted) error {
		d := t.Direct(db).Add("UPDATE ? SET ", from)
		if t.Version != nil {
			d.Add("? = ? + 1, ", clause.Column{Name: t.Version.DBName}, table.Column(t.Version))
		}
		changes := changes(t, moves[0])
		// The column that the ranges are about comes last: MySQL works the columns out one by one,
		// on what it has written already.
		for i := len(changes) - 1; i >= 0; i-- {
			d.Add("? = ?", clause.Column{Name: changes[i].column.DBName}, p.rewritten(t, moves, ranges, i))
			if i > 0 {
				d.Add(", ")
			}
		}
		_, err := d.Add(" WHERE ? AND ?", table.AnyOf(ranges), t.Alive).Exec()
		return err
	})
}

// rewritten is what a path column becomes, the first or the second one, in the rows of the ranges
// that belong to moves.
func (p *Planner) rewritten(t *table.Table, moves []move, ranges []clause.Expression, which int) clause.Expression {
	begin := func(m move) clause.Expr {
		c := changes(t, m)[which]
		// SUBSTRING and SUBSTR count characters, from 1.
		return p.Dialect.Join(c.to, table.Column(c.column), utf8.RuneCountInString(c.from)+1)
	}
	if len(moves) == 1 {
		return begin(moves[0])
	}
	branches := clause.Expr{SQL: "CASE"}
	for i, m := range moves {
		branches.SQL += " WHEN ? THEN ?"
		branches.Vars = append(branches.Vars, ranges[i], begin(m))
	}
	branches.SQL += " ELSE ? END"
	branches.Vars = append(branches.Vars, table.Column(changes(t, moves[0])[which].column))
	return branches
}

// change is how the beginning of a path column changes for a moved row and everything below it.
type change struct {
	column   *schema.Field
	from, to string
}

// longer returns by how many characters the texts grow.
func (c change) longer() int { return utf8.RuneCountInString(c.to) - utf8.RuneCountInString(c.from) }

// changes returns what a move does to the path columns.
func changes(t *table.Table, m move) []change {
	all := []change{{t.Path, m.Node.Path, m.path}}
	if t.IDs != nil {
		all = append(all, change{t.IDs, m.Node.IDs, m.ids})
	}
	return all
}
