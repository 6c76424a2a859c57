package table

import (
	"context"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// Unquoted returns a name without quotation marks around its parts.
func Unquoted(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("`\"[]", r) {
			return -1
		}
		return r
	}, strings.TrimSpace(name))
}

// BaseName returns a table's name without its schema.
func BaseName(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// schemaOf splits a table's name into its schema, nil if it states none, and the rest.
func schemaOf(table string) (schema any, name string) {
	name = BaseName(table)
	if len(name) == len(table) {
		return nil, name
	}
	return table[:len(table)-len(name)-1], name
}

// spelling asks the database which names it tells apart. Where it does not say, letter case is
// taken not to count: more is refused then, and nothing is overlooked.
func spelling(db *gorm.DB, d *dialect.Dialect) rawsql.Case {
	switch d.Grammar {
	case &rawsql.PostgreSQL:
		return rawsql.CaseFolded
	case &rawsql.SQLite:
		return rawsql.CaseASCII
	}
	if db.DryRun || db.ConnPool == nil {
		return rawsql.CaseUnicode
	}
	const exact = "0"
	var setting string
	ctx, cancel := context.WithTimeout(db.Statement.Context, txn.QuestionTimeout)
	defer cancel()
	row := txn.Unwrapped(db.ConnPool).QueryRowContext(ctx, "SELECT @@lower_case_table_names")
	if row == nil || row.Scan(&setting) != nil || setting != exact {
		return rawsql.CaseUnicode
	}
	return rawsql.CaseExact
}
