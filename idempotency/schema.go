package idempotency

import (
	"context"
	"fmt"
	"strings"

	"github.com/cenkalti/backoff/v5"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// purgeBatch is how many rows are deleted by one statement.
const purgeBatch = 500

// Schema returns the SQL that makes the table of keys, for migrations of your own: several
// statements, each of which ends with a semicolon at the end of a line. The database is "mysql",
// which stands for MariaDB, too, "postgres" or "sqlite".
func Schema(database, table string) (string, error) {
	d, err := dialect.Of(dialect.Name(database))
	if err != nil {
		return "", fmt.Errorf("idempotency: %w", err)
	}
	s, err := newStatements(d, table)
	return s.create + "\n", err
}

// Migrate makes the table of keys where it is missing. Several instances may call it at once.
func (k *Keys) Migrate(ctx context.Context) error {
	// PostgreSQL refuses one of two that create a table at the same instant.
	_, err := backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, k.create(ctx) },
		backoff.WithBackOff(backoff.NewConstantBackOff(maxPause)), backoff.WithMaxTries(tries))
	if err != nil {
		return fmt.Errorf("idempotency: creating the table %s: %w", k.config.Table, err)
	}
	return nil
}

// create runs the statements of the schema.
func (k *Keys) create(ctx context.Context) error {
	for statement := range strings.SplitSeq(k.sql.create+"\n", ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if err := k.session(ctx).Exec(statement).Error; err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error where the table of keys is not as [Keys.Migrate] makes it.
func (k *Keys) Check(ctx context.Context) error {
	if err := k.session(ctx).Exec(k.sql.check).Error; err != nil {
		return fmt.Errorf("idempotency: the table %s (Migrate makes it): %w", k.config.Table, err)
	}
	return nil
}

// Purge deletes the rows of keys whose time is over, 500 by one statement, and returns how many.
// Run it now and then, on any number of instances: what is over counts for nothing even before
// that.
func (k *Keys) Purge(ctx context.Context) (rows int64, err error) {
	for {
		deleted, err := k.exec(ctx, k.sql.purge, purgeBatch)
		rows += deleted
		if err != nil {
			return rows, fmt.Errorf("idempotency: deleting old keys: %w", err)
		}
		if deleted < purgeBatch {
			return rows, nil
		}
	}
}
