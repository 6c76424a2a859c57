package plans

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// AddSuites creates many suites at once, as a job does. No request holds locks for it, so the
// plugin takes them before the statement's transaction begins. It creates all suites or none, and
// sets the ids and paths of rows, which are of one plan.
func (s *Service) AddSuites(ctx context.Context, rows []model.Suite) error {
	err := addAll(ctx, s.db.Write, rows, func(row model.Suite) string { return row.Name })
	if err == nil && s.announcer != nil && len(rows) > 0 {
		s.announcer.PlanChanged(rows[0].PlanID)
	}
	return err
}

// AddCases is AddSuites for cases.
func (s *Service) AddCases(ctx context.Context, rows []model.Case) error {
	err := addAll(ctx, s.db.Write, rows, func(row model.Case) string { return row.Name })
	if err == nil && s.announcer != nil && len(rows) > 0 {
		s.announcer.SuiteChanged(rows[0].SuiteID)
	}
	return err
}

// patience is how long a job tries while users are in its way.
const patience = time.Minute

// addAll creates rows by one statement. It tries again while others are in the way.
func addAll[T any](ctx context.Context, db *gorm.DB, rows []T, name func(T) string) error {
	for _, row := range rows {
		if err := checkName("name", name(row)); err != nil {
			return err
		}
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := db.WithContext(ctx).Create(&rows).Error
		if failure := pathlock.FailureOf(err); err != nil && failure != pathlock.FailureLocked && failure != pathlock.FailurePathChanged {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewExponentialBackOff()), backoff.WithMaxElapsedTime(patience))
	return err
}

// AllCases returns the cases of a plan's live suites.
func (s *Service) AllCases(ctx context.Context, planID int64) ([]model.Case, error) {
	var cases []model.Case
	err := s.db.Read.WithContext(ctx).
		Joins("JOIN suites ON suites.id = cases.suite_id AND suites.plan_id = ? AND suites.deleted_at IS NULL", planID).
		Select("cases.id", "cases.suite_id", "cases.name").Find(&cases).Error
	return cases, err
}
