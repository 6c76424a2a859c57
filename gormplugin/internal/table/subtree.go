package table

import (
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"gorm.io/gorm/clause"
)

// Below is the condition that a row lies below a path, in a tree: a range of the index on (tree,
// path), from "/d1/" up to "/d10", as 0 is the byte after the slash. LIKE would take the % and _ in
// names for wildcards and follow the collation. The last condition is exact where the collation is
// not, on the rows of the range only.
func (t *Table) Below(tree any, path string) clause.Expression {
	prefix := path + "/"
	return clause.And(
		clause.Eq{Column: Column(t.Tree), Value: tree},
		clause.Expr{SQL: t.Dialect.Binary + " >= ? AND " + t.Dialect.Binary + " < ?", Vars: []any{Column(t.Path), prefix, Column(t.Path), path + "0"}},
		clause.Expr{SQL: t.Dialect.Prefix, Vars: []any{Column(t.Path), utf8.RuneCountInString(prefix), prefix}},
	)
}

// Within is the condition that a row is the one with the id, whose path is given, or lies below it:
// the two ends are one range each of the same index.
func (t *Table) Within(tree, id any, path string) clause.Expression {
	self := clause.And(
		clause.Eq{Column: Column(t.Tree), Value: tree},
		clause.Expr{SQL: t.Dialect.Binary + " = ?", Vars: []any{Column(t.Path), path}},
		clause.Eq{Column: Column(t.Key), Value: id},
	)
	return clause.Or(self, t.Below(tree, path))
}

// Exactly is the condition that a text column holds a text, which may be an expression: by an index
// that has the column in binary order, and to the byte where its collation is another.
func (t *Table) Exactly(column clause.Column, text any) clause.Expression {
	length := clause.Expr{SQL: t.Dialect.Length + "(?)", Vars: []any{column}}
	return clause.And(
		clause.Expr{SQL: t.Dialect.Binary + " = ?", Vars: []any{column, text}},
		clause.Expr{SQL: t.Dialect.Prefix, Vars: []any{column, length, text}},
	)
}

// HasPath is the condition that a row has a path in a tree.
func (t *Table) HasPath(tree any, path pathlock.Path) clause.Expression {
	return clause.And(clause.Eq{Column: Column(t.Tree), Value: tree}, t.Exactly(Column(t.Path), path.Column()))
}
