package schema

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock/sample-app/internal/database"
)

// DropSiblingIndex removes the unique index over siblings' names. It exists to show what happens
// without any protection, on a database made for that purpose.
func DropSiblingIndex(ctx context.Context, db *database.DB) error {
	statements := []string{`DROP INDEX suites_sibling`}
	if db.Dialect == database.MySQL {
		statements = []string{`ALTER TABLE suites DROP INDEX suites_sibling, ADD KEY suites_parent (parent_id)`}
	} else {
		statements = append(statements, `CREATE INDEX suites_parent ON suites (parent_id)`)
	}
	for _, statement := range statements {
		if _, err := db.Pool().ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("schema: drop the sibling index of %s: %w", db.Where, err)
		}
	}
	return nil
}
