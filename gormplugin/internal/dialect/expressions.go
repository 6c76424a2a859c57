package dialect

import (
	"gorm.io/gorm/clause"
)

// RowLock is the end of a SELECT that locks the rows it reads. It takes the place of GORM's own
// clause.Locking, which writes FOR SHARE for servers that do not know it.
type RowLock string

// Name implements [clause.Interface].
func (RowLock) Name() string { return "FOR" }

// Build implements [clause.Expression].
func (l RowLock) Build(b clause.Builder) { _, _ = b.WriteString(string(l)) }

// MergeClause implements [clause.Interface]. Without a name, the clause is written as it stands.
func (l RowLock) MergeClause(c *clause.Clause) {
	c.Name = ""
	c.Expression = l
}

// baseByTrim takes everything but slashes off the end of a path to find out where its last name
// begins.
func baseByTrim(path clause.Column) clause.Expr {
	return clause.Expr{SQL: "SUBSTR(?, LENGTH(RTRIM(?, REPLACE(?, '/', ''))) + 1)", Vars: []any{path, path, path}}
}

// assignFrom is the form of PostgreSQL and, since its version 3.33, of SQLite.
func assignFrom(others any, table clause.Table, set clause.Set, belongs, where clause.Expression) clause.Expr {
	return clause.Expr{SQL: "UPDATE ? AS c ? FROM ? AS p WHERE ? AND ?", Vars: []any{table, set, others, belongs, where}}
}
