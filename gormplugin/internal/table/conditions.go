package table

import (
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Column names a column of the table that the statement is on.
func Column(f *schema.Field) clause.Column {
	return clause.Column{Table: clause.CurrentTable, Name: f.DBName}
}

// OneOf is the condition that a column has one of the values.
func OneOf(f *schema.Field, values []any) clause.Expression {
	return clause.IN{Column: Column(f), Values: values}
}

// KeyIn is the condition that a column of keys has one of the values. Where a long list would be
// misjudged, the values are rows to be joined with, if their type can be told.
func (t *Table) KeyIn(column clause.Column, ids []any) clause.Expression {
	const few = 16
	isOther := func(id any) bool { _, ok := id.(int64); return !ok }
	kind := t.Key.DataType
	if !t.Dialect.MisjudgesLists || len(ids) <= few || kind != schema.Int && kind != schema.Uint || slices.ContainsFunc(ids, isOther) {
		return clause.IN{Column: column, Values: ids}
	}
	return clause.Expr{
		SQL:  "? IN (VALUES (CAST(? AS BIGINT))" + strings.Repeat(", (?)", len(ids)-1) + ")",
		Vars: append([]any{column}, ids...),
	}
}

// AnyOf is the condition that one of some conditions holds. GORM's own would be a condition beside
// those of the statement.
func AnyOf(conditions []clause.Expression) clause.Expression {
	vars := make([]any, len(conditions))
	for i, c := range conditions {
		vars[i] = c
	}
	return clause.Expr{SQL: "(" + strings.Repeat(" OR ?", len(vars))[len(" OR "):] + ")", Vars: vars}
}

// Under makes a condition on the columns of the statement's table one on those of an alias.
func Under(alias string, condition clause.Expression) clause.Expression {
	return aliased{alias, condition}
}

// aliased is a condition under an alias.
type aliased struct {
	alias     string
	condition clause.Expression
}

// Build implements [clause.Expression].
func (a aliased) Build(b clause.Builder) {
	stmt, ok := b.(*gorm.Statement)
	if !ok {
		return
	}
	table := stmt.Table
	stmt.Table = a.alias
	a.condition.Build(b)
	stmt.Table = table
}

// MaxPlaceholders is how many values one statement lists at most: SQLite's
// oldest limit is 999.
const MaxPlaceholders = 500
