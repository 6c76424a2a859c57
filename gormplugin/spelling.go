package gormplugin

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// learnNames finds out which spellings of the guarded tables' names the database takes for one
// table. It returns an error where it takes two registered tables for one.
func (p *catalogue) learnNames(db *gorm.DB, d *dialect.Dialect) error {
	rule := spelling(db, d)
	if p.names != nil && rule >= p.spellings {
		return nil // of the servers that are in use, one tells no more names apart than this
	}
	var names []string
	for base := range p.bases {
		names = append(names, base)
	}
	slices.Sort(names)
	p.names, p.spellings = rawsql.NewNames(d.Grammar, rule, names...), rule
	for i, a := range p.all {
		for _, b := range p.all[:i] {
			if p.names.Same(a.name, b.name) {
				return fmt.Errorf("gormplugin: %q and %q are one table: a table can be registered once", b.name, a.name)
			}
		}
	}
	return nil
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

// baseName returns a table's name without its schema.
func baseName(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }
