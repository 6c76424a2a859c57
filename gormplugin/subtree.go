package gormplugin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// below is the condition that a row lies below a path, in a tree: a range of the index on (tree,
// path), from "/d1/" up to "/d10", as 0 is the byte after the slash. LIKE would take the % and _ in
// names for wildcards and follow the collation. The last condition is exact where the collation is
// not, on the rows of the range only.
func (p *planner) below(t *table, tree any, path string) clause.Expression {
	prefix := path + "/"
	return clause.And(
		clause.Eq{Column: column(t.tree), Value: tree},
		clause.Expr{SQL: p.Dialect.Binary + " >= ? AND " + p.Dialect.Binary + " < ?", Vars: []any{column(t.path), prefix, column(t.path), path + "0"}},
		clause.Expr{SQL: p.Dialect.Prefix, Vars: []any{column(t.path), utf8.RuneCountInString(prefix), prefix}},
	)
}

// within is the condition that a row is the one with the id, whose path is given, or lies below it:
// the two ends are one range each of the same index.
func (p *planner) within(t *table, tree, id any, path string) clause.Expression {
	self := clause.And(
		clause.Eq{Column: column(t.tree), Value: tree},
		clause.Expr{SQL: p.Dialect.Binary + " = ?", Vars: []any{column(t.path), path}},
		clause.Eq{Column: column(t.key), Value: id},
	)
	return clause.Or(self, p.below(t, tree, path))
}

// exactly is the condition that a text column holds a text, which may be an expression: by an index
// that has the column in binary order, and to the byte where its collation is another.
func (p *planner) exactly(column clause.Column, text any) clause.Expression {
	length := clause.Expr{SQL: p.Dialect.Length + "(?)", Vars: []any{column}}
	return clause.And(
		clause.Expr{SQL: p.Dialect.Binary + " = ?", Vars: []any{column, text}},
		clause.Expr{SQL: p.Dialect.Prefix, Vars: []any{column, length, text}},
	)
}

// anyOf is the condition that one of some conditions holds. GORM's own would be a condition beside
// those of the statement.
func anyOf(conditions []clause.Expression) clause.Expression {
	vars := make([]any, len(conditions))
	for i, c := range conditions {
		vars[i] = c
	}
	return clause.Expr{SQL: "(" + strings.Repeat(" OR ?", len(vars))[len(" OR "):] + ")", Vars: vars}
}

// rewriteMoved gives the descendants of the rows that an UPDATE has moved their new paths. From
// here on, a failure leaves the subtree torn apart: the transaction is rolled back, and not left to
// a caller who may ignore the error.
func (p *planner) rewriteMoved(db *gorm.DB, tx *txn.Transaction, t *table, moves []move) error {
	moves = slices.DeleteFunc(slices.Clone(moves), func(m move) bool {
		return m.restored || m.node.path == m.path && m.node.ids == m.ids
	})
	// Where one moved row lies below another, what is below it follows the lower one.
	slices.SortFunc(moves, func(a, b move) int { return cmp.Compare(len(b.node.path), len(a.node.path)) })
	for chunk := range slices.Chunk(moves, maxRanges) {
		if err := p.rewrite(db, t, chunk); err != nil {
			err = fmt.Errorf("gormplugin: rewriting the paths below %q: %w", chunk[0].node.path, err)
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
func (p *planner) rewrite(db *gorm.DB, t *table, moves []move) error {
	ranges := make([]clause.Expression, len(moves))
	for i, m := range moves {
		ranges[i] = p.below(t, m.tree, m.node.path)
	}
	return t.onPathIndex(db, func(from hinted) error {
		d := t.direct(db).add("UPDATE ? SET ", from)
		if t.version != nil {
			d.add("? = ? + 1, ", clause.Column{Name: t.version.DBName}, column(t.version))
		}
		changes := t.changes(moves[0])
		// The column that the ranges are about comes last: MySQL works the columns out one by one,
		// on what it has written already.
		for i := len(changes) - 1; i >= 0; i-- {
			d.add("? = ?", clause.Column{Name: changes[i].column.DBName}, p.rewritten(t, moves, ranges, i))
			if i > 0 {
				d.add(", ")
			}
		}
		_, err := d.add(" WHERE ? AND ?", anyOf(ranges), t.alive).exec()
		return err
	})
}

// rewritten is what a path column becomes, the first or the second one, in the rows of the ranges
// that belong to moves.
func (p *planner) rewritten(t *table, moves []move, ranges []clause.Expression, which int) clause.Expression {
	begin := func(m move) clause.Expr {
		c := t.changes(m)[which]
		// SUBSTRING and SUBSTR count characters, from 1.
		return p.Dialect.Join(c.to, column(c.column), utf8.RuneCountInString(c.from)+1)
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
	branches.Vars = append(branches.Vars, column(t.changes(moves[0])[which].column))
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
func (t *table) changes(m move) []change {
	all := []change{{t.path, m.node.path, m.path}}
	if t.ids != nil {
		all = append(all, change{t.ids, m.node.ids, m.ids})
	}
	return all
}

// checkLengths refuses a row that its columns cannot hold: outside strict mode, MySQL would cut it
// off silently.
func (t *table) checkLengths(n *node) error {
	if err := fits(t.label, utf8.RuneCountInString(n.name), n.name); err != nil {
		return err
	}
	if t.isLeaf() {
		return nil
	}
	for f, path := range t.pathsIn(n) {
		length := utf8.RuneCountInString(path)
		if lacksID(path) {
			length += longestID
		}
		if err := fits(f, length, path); err != nil {
			return err
		}
	}
	return nil
}

// fits compares a length in characters with the column's size, where the model states one.
func fits(f *schema.Field, length int, what string) error {
	if f.Size > 0 && f.DataType == schema.String && length > f.Size {
		const shown = 80
		return fmt.Errorf("%w: %q has room for %d characters, %.*q… needs %d", fault.ErrPathTooLong, f.DBName, f.Size, shown, what, length)
	}
	return nil
}
