package storm

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/treecheck"
)

// verify reads every row with plain SQL, past all the code that wrote it, and compares each with
// its parent and its siblings.
func verify(ctx context.Context, db *database.DB) (problems []treecheck.Problem, checked int, err error) {
	rows, err := db.Pool().QueryContext(ctx, `SELECT id, parent_id, name, path FROM suites WHERE deleted_at IS NULL`)
	if err != nil {
		return nil, 0, fmt.Errorf("read all rows: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var suites []treecheck.Suite
	for rows.Next() {
		var s treecheck.Suite
		if err := rows.Scan(&s.ID, &s.ParentID, &s.Name, &s.Path); err != nil {
			return nil, 0, fmt.Errorf("read all rows: %w", err)
		}
		suites = append(suites, s)
	}
	return treecheck.Check(suites, nil), len(suites), rows.Err()
}
