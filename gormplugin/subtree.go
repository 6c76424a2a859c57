package gormplugin

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf8"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// below is the condition that a row lies below a path, in a tree: a range of the index on (tree, path),
// from "/d1/" up to "/d10", as 0 is the byte after the slash. LIKE would take the % and _ in
// names for wildcards and follow the collation. The last condition is exact where the
// collation is not, on the rows of the range only.
func (p *Plugin) below(t *table, tree any, path string) clause.Expression {
	prefix := path + "/"
	return clause.And(
		clause.Eq{Column: column(t.tree), Value: tree},
		clause.Expr{SQL: p.dialect.binary + " >= ? AND " + p.dialect.binary + " < ?", Vars: []any{column(t.path), prefix, column(t.path), path + "0"}},
		clause.Expr{SQL: p.dialect.prefix, Vars: []any{column(t.path), utf8.RuneCountInString(prefix), prefix}},
	)
}

// within is the condition that a row is the one with the id, whose path is given, or lies below it: the two ends are one range
// each of the same index.
func (p *Plugin) within(t *table, tree, id any, path string) clause.Expression {
	self := clause.And(
		clause.Eq{Column: column(t.tree), Value: tree},
		clause.Expr{SQL: p.dialect.binary + " = ?", Vars: []any{column(t.path), path}},
		clause.Eq{Column: column(t.key), Value: id},
	)
	return clause.Or(self, p.below(t, tree, path))
}

// exactly is the condition that a text column holds a text, which may be an expression: by an index that has the column in binary order,
// and to the byte where its collation is another.
func (p *Plugin) exactly(column clause.Column, text any) clause.Expression {
	length := clause.Expr{SQL: p.dialect.length + "(?)", Vars: []any{column}}
	return clause.And(
		clause.Expr{SQL: p.dialect.binary + " = ?", Vars: []any{column, text}},
		clause.Expr{SQL: p.dialect.prefix, Vars: []any{column, length, text}},
	)
}

// onlyLive adds the conditions by which GORM's queries leave out softly deleted rows,
// also where the statement itself would not.
func (t *table) onlyLive(tx *gorm.DB) *gorm.DB {
	for _, c := range t.schema.QueryClauses {
		tx.Statement.AddClause(c)
	}
	return tx
}

// rewriteMoved gives the descendants of the rows that an UPDATE has moved their new paths. From here on, a
// failure leaves the subtree torn apart: the transaction is rolled back, and not left to a caller who may ignore the error.
func (p *Plugin) rewriteMoved(db *gorm.DB, tx *transaction, st *statement) error {
	if st.table.isLeaf() {
		return nil
	}
	// Where one moved row lies below another, its subtree goes first, out of the other's way.
	slices.SortFunc(st.moves, func(a, b move) int { return cmp.Compare(len(b.node.path), len(a.node.path)) })
	for _, m := range st.moves {
		if m.restored || m.node.path == m.path && m.node.ids == m.ids {
			continue
		}
		if err := p.rewrite(db, st.table, m); err != nil {
			err = fmt.Errorf("gormplugin: rewriting the paths below %q: %w", m.node.path, err)
			cause := err
			if p.dialect.classify(err).isRetryable() {
				cause = retry(err)
			}
			tx.abandon(cause)
			return cause
		}
	}
	return nil
}

// rewrite moves one subtree, without its top row, in one statement.
func (p *Plugin) rewrite(db *gorm.DB, t *table, m move) error {
	values := make(map[string]any)
	for _, c := range t.changes(m) {
		if c.from != c.to {
			// SUBSTRING and SUBSTR count characters, from 1.
			values[c.column.DBName] = p.dialect.join(c.to, column(c.column), utf8.RuneCountInString(c.from)+1)
		}
	}
	if t.version != nil {
		values[t.version.DBName] = clause.Expr{SQL: "? + 1", Vars: []any{column(t.version)}}
	}
	_, err := t.updateDirect(db, values, clause.And(p.below(t, m.tree, m.node.path), t.alive))
	return err
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

// checkLengths refuses a row that its columns cannot hold: outside strict mode, MySQL would cut it off silently.
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
		return fmt.Errorf("%w: %q has room for %d characters, %.*q… needs %d", ErrPathTooLong, f.DBName, f.Size, shown, what, length)
	}
	return nil
}
