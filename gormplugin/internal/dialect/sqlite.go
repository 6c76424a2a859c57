package dialect

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// sqliteDialect is for SQLite.
var sqliteDialect = Dialect{
	Name:       "sqlite",
	SoleWriter: true,
	Both:       [3]string{"", " UNION ALL ", ""},
	Binary:     "?",
	Length:     "LENGTH",
	Bytes:      "LENGTH",
	Follow:     "? || '/' || ?",
	First:      "? || ?",
	Prefix:     "SUBSTR(?, 1, ?) = ? COLLATE BINARY",
	Join: func(head string, column clause.Column, from int) clause.Expr {
		return clause.Expr{SQL: "? || SUBSTR(?, ?)", Vars: []any{head, column, from}}
	},
	Numbered:    "? || ROW_NUMBER() OVER ()",
	Base:        baseByTrim,
	Assign:      assignFrom,
	Classify:    classifySQLite,
	unavailable: unavailableSQLite,
	unfit:       unfitSQLite,
	Said:        saidLost,
	Probe:       probeSQLite(),
	Grammar:     &rawsql.SQLite,
}

// classifySQLite reads SQLite's messages. Every driver passes them on, but each has an error type
// of its own.
func classifySQLite(err error) Failure {
	switch text := err.Error(); {
	case strings.Contains(text, "database is locked"), strings.Contains(text, "database table is locked"):
		return FailureRetry
	case strings.Contains(text, "UNIQUE constraint failed"):
		return FailureDuplicate
	default:
		return FailureOther
	}
}

// unfitSQLite reads SQLite's messages.
func unfitSQLite(err error) bool { return strings.Contains(err.Error(), "string or blob too big") }

// unavailableSQLite reads SQLite's messages, which every driver passes on. See
// https://www.sqlite.org/rescode.html.
func unavailableSQLite(err error) bool {
	text := err.Error()
	return slices.ContainsFunc([]string{
		"disk I/O error", "unable to open database file", "database or disk is full", "database disk image is malformed",
		"file is not a database", "attempt to write a readonly database", "no such table",
	}, func(said string) bool { return strings.Contains(text, said) })
}

// probeSQLite asks by a BEGIN, which SQLite refuses within a transaction. Otherwise BEGIN begins
// another one, which the caller rolls back in the place of the ended one.
func probeSQLite() *probe {
	return &probe{
		Harmless: func(err error) bool { return errors.Is(err, gorm.ErrRecordNotFound) },
		Open: func(ctx context.Context, tx *sql.Tx) (bool, error) {
			_, err := tx.ExecContext(ctx, "BEGIN")
			if err != nil && strings.Contains(err.Error(), "within a transaction") {
				return true, nil
			}
			return false, err
		},
	}
}
