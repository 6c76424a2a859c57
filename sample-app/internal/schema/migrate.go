// Package schema brings a database's tables up to date. Each dialect has a series of numbered SQL
// files, each of which is applied once and in order.
package schema

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/sample-app/internal/database"
)

//go:embed mysql/*.sql postgres/*.sql sqlite/*.sql
var files embed.FS

// IdempotencyKeys is the table of package idempotency.
const IdempotencyKeys = "idempotency_keys"

// migration is one file.
type migration struct {
	number int
	name   string
	sql    string
}

// Migrate applies the files that the database has not seen yet. Any number of instances may call it
// at once: one does the work, and the others wait for it.
func Migrate(ctx context.Context, db *database.DB) error {
	all, err := load(db.Dialect)
	if err != nil {
		return err
	}
	err = locked(ctx, db, func(conn *sql.Conn) error {
		binary, err := binaryCollation(ctx, db.Dialect, conn)
		if err != nil {
			return err
		}
		return apply(ctx, conn, db, binary, all)
	})
	if err != nil {
		return fmt.Errorf("schema: migrate %s: %w", db.Where, err)
	}
	return nil
}

// load reads the dialect's files, in the order of their numbers.
func load(dialect database.Dialect) ([]migration, error) {
	names, err := fs.Glob(files, path.Join(string(dialect), "*.sql"))
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	var all []migration
	for _, name := range names {
		prefix, _, _ := strings.Cut(path.Base(name), "_")
		number, err := strconv.Atoi(prefix)
		if err != nil {
			return nil, fmt.Errorf("schema: the file %s has no number: %w", name, err)
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
		all = append(all, migration{number, path.Base(name), string(text)})
	}
	return all, nil
}

// binaryCollation returns the server's collation under which no two different names are equal,
// which the files call ${binary}. utf8mb4_bin is not one: it ignores spaces at the end.
func binaryCollation(ctx context.Context, dialect database.Dialect, conn *sql.Conn) (string, error) {
	switch dialect {
	case database.SQLite:
		return "BINARY", nil
	case database.Postgres:
		return `"C"`, nil
	}
	var version string
	if err := conn.QueryRowContext(ctx, `SELECT VERSION()`).Scan(&version); err != nil {
		return "", fmt.Errorf("ask for the version: %w", err)
	}
	if strings.Contains(version, "MariaDB") {
		return "utf8mb4_nopad_bin", nil
	}
	return "utf8mb4_0900_bin", nil
}

// apply runs the migrations that are not on record, and records them.
func apply(ctx context.Context, conn *sql.Conn, db *database.DB, binary string, all []migration) error {
	if _, err := conn.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (number INTEGER NOT NULL PRIMARY KEY)`); err != nil {
		return fmt.Errorf("create the table of migrations: %w", err)
	}
	for _, m := range all {
		var done int
		if err := conn.QueryRowContext(ctx, db.Bind(`SELECT COUNT(*) FROM schema_migrations WHERE number = ?`), m.number).Scan(&done); err != nil {
			return fmt.Errorf("look up migration %d: %w", m.number, err)
		}
		if done > 0 {
			continue
		}
		for _, statement := range statements(strings.ReplaceAll(m.sql, "${binary}", binary)) {
			if _, err := conn.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
		}
		if _, err := conn.ExecContext(ctx, db.Bind(`INSERT INTO schema_migrations (number) VALUES (?)`), m.number); err != nil {
			return fmt.Errorf("record migration %d: %w", m.number, err)
		}
	}
	return nil
}

// statements splits a file: a statement ends with a semicolon at the end of a line.
func statements(text string) []string {
	var all []string
	for statement := range strings.SplitSeq(text, ";\n") {
		if s := strings.TrimSpace(statement); s != "" {
			all = append(all, s)
		}
	}
	return all
}
