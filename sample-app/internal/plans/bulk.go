package plans

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// AddSuites creates many suites at once, as a job does: no request holds locks for it, so that the
// plugin takes them, before the statement's transaction begins. All are created or none; the rows
// get their ids and paths.
func (s *Service) AddSuites(ctx context.Context, rows []model.Suite) error {
	for _, row := range rows {
		if err := checkName("name", row.Name); err != nil {
			return err
		}
	}
	return s.patiently(ctx, func(db *gorm.DB) error { return db.Create(&rows).Error })
}

// AddCases is AddSuites for cases.
func (s *Service) AddCases(ctx context.Context, rows []model.Case) error {
	for _, row := range rows {
		if err := checkName("name", row.Name); err != nil {
			return err
		}
	}
	return s.patiently(ctx, func(db *gorm.DB) error { return db.Create(&rows).Error })
}

// patience is how long a job lets users go first.
const patience = time.Minute

// patiently runs a statement of its own transaction, again as long as others are in the way.
func (s *Service) patiently(ctx context.Context, do func(db *gorm.DB) error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := do(s.db.Write.WithContext(ctx))
		if err != nil && !isContention(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewExponentialBackOff()), backoff.WithMaxElapsedTime(patience))
	return err
}

// isContention reports whether others were in the way, so that the same may well succeed later.
func isContention(err error) bool {
	for _, reason := range []error{pathlock.ErrConflict, pathlock.ErrDeadlock, pathlock.ErrPathChanged, gormplugin.ErrRetry} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// AllCases returns the cases of a plan's live suites.
func (s *Service) AllCases(ctx context.Context, planID int64) ([]model.Case, error) {
	var cases []model.Case
	err := s.db.Read.WithContext(ctx).
		Joins("JOIN suites ON suites.id = cases.suite_id AND suites.plan_id = ? AND suites.deleted_at IS NULL", planID).
		Select("cases.id", "cases.suite_id", "cases.name").Find(&cases).Error
	return cases, err
}
