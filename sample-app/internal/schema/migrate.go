// Package schema brings a database's tables up to date: numbered SQL files,
// one series for each dialect, each applied once and in order.
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

// migration is one file.
type migration struct {
	number int
	name   string
	sql    string
}

// Migrate applies what the database has not seen yet. Any number of instances
// may do so at once: one does the work, and the others wait for it.
func Migrate(ctx context.Context, db *database.DB) error {
	pending, err := load(db.Dialect)
	if err != nil {
		return err
	}
	err = locked(ctx, db, func(conn *sql.Conn) error {
		server, err := describe(ctx, db.Dialect, conn)
		if err != nil {
			return err
		}
		return apply(ctx, conn, db, server, pending)
	})
	if err != nil {
		return fmt.Errorf("schema: migrate %s: %w", db.Where, err)
	}
	return nil
}

// load reads the dialect's files in order of their numbers.
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

// apply runs the migrations that are not on record and records them.
func apply(ctx context.Context, conn *sql.Conn, db *database.DB, server server, all []migration) error {
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
		for _, statement := range statements(server.expand(m.sql)) {
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
