package schema

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/sample-app/internal/database"
)

// server is what the SQL files have to know about the server at hand.
type server struct {
	// binary is the collation under which no two different names are equal.
	// Plain utf8mb4_bin will not do: to it 'a' and 'a ' are the same.
	binary string
}

// expand fills the server's words into a file.
func (s server) expand(text string) string { return strings.ReplaceAll(text, "${binary}", s.binary) }

// describe asks the server what it is.
func describe(ctx context.Context, dialect database.Dialect, conn *sql.Conn) (server, error) {
	switch dialect {
	case database.SQLite:
		return server{binary: "BINARY"}, nil
	case database.Postgres:
		return server{binary: `"C"`}, nil
	}
	var version string
	if err := conn.QueryRowContext(ctx, `SELECT VERSION()`).Scan(&version); err != nil {
		return server{}, fmt.Errorf("ask for the version: %w", err)
	}
	if strings.Contains(version, "MariaDB") {
		return server{binary: "utf8mb4_nopad_bin"}, nil
	}
	return server{binary: "utf8mb4_0900_bin"}, nil
}
