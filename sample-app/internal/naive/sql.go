package naive

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

const (
	columns = `SELECT id, plan_id, parent_id, name, path, version FROM suites WHERE deleted_at IS NULL AND `
	// below is the range of the rows below a path.
	below = `plan_id = ? AND path >= ? AND path < ?`
)

// executor is a pool or a transaction.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (s *Suites) read(ctx context.Context, id int64) (model.Suite, error) {
	suite, err := scan(s.db.Pool().QueryRowContext(ctx, s.db.Bind(columns+`id = ?`), id))
	return suite, missing(err, id)
}

// subtree reads the rows below a suite, parents before their children.
func (s *Suites) subtree(ctx context.Context, top model.Suite) (under []model.Suite, err error) {
	rows, err := s.db.Pool().QueryContext(ctx, s.db.Bind(columns+below+` ORDER BY path`), top.PlanID, top.Path+"/", top.Path+"0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		suite, err := scan(rows)
		if err != nil {
			return nil, err
		}
		under = append(under, suite)
	}
	return under, rows.Err()
}

func scan(row interface{ Scan(...any) error }) (s model.Suite, err error) {
	err = row.Scan(&s.ID, &s.PlanID, &s.ParentID, &s.Name, &s.Path, &s.Version)
	return s, err
}

func (s *Suites) insert(ctx context.Context, in executor, suite model.Suite) (model.Suite, error) {
	suite.Version = 1
	insert, values := `INSERT INTO suites (plan_id, parent_id, name, path) VALUES (?, ?, ?, ?)`, []any{suite.PlanID, suite.ParentID, suite.Name, suite.Path}
	if s.db.Dialect == database.Postgres {
		err := in.QueryRowContext(ctx, s.db.Bind(insert+` RETURNING id`), values...).Scan(&suite.ID)
		return suite, err
	}
	result, err := in.ExecContext(ctx, insert, values...)
	if err != nil {
		return suite, err
	}
	suite.ID, err = result.LastInsertId()
	return suite, err
}

// maxTries is how often inTransaction runs a transaction at most.
const maxTries = 10

// inTransaction runs do in a transaction, and again if the database gave the transaction up for
// another one. Code written by hand does that, too.
func (s *Suites) inTransaction(ctx context.Context, do func(*sql.Tx) error) error {
	for attempt := time.Duration(1); ; attempt++ {
		err := s.once(ctx, do)
		if s.failureOf(err) != pathlock.FailureLocked || attempt == maxTries {
			return err
		}
		select {
		case <-time.After(attempt * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *Suites) once(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.Pool().BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
