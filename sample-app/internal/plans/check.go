package plans

import (
	"context"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// Report is the outcome of a check.
type Report struct {
	// Checked is the number of suites and cases checked.
	Checked  int64          `json:"checked"`
	Problems []fsck.Problem `json:"problems"`
}

// Check compares every suite of a plan with its parent and its siblings, as of one instant. Cases
// have no paths: the database keeps their names apart, and they are counted alone.
func (s *Service) Check(ctx context.Context, planID int64) (Report, error) {
	report := Report{Problems: []fsck.Problem{}}
	if _, err := s.Plan(ctx, planID); err != nil {
		return report, err
	}
	table, err := gormplugin.Describe(s.db.Read, &Suite{})
	if err != nil {
		return report, err
	}
	pool, err := s.db.Read.DB()
	if err != nil {
		return report, err
	}
	checker, err := fsck.New(ctx, pool, fsck.Dialect(s.db.Read.Name()), table)
	if err != nil {
		return report, err
	}
	summary, err := checker.Check(ctx, fsck.Options{Tree: fsck.IntKey(planID)}, func(p fsck.Problem) error {
		report.Problems = append(report.Problems, p)
		return nil
	})
	if err != nil {
		return report, err
	}
	suites := s.db.Read.Model(&Suite{}).Select("id").Where("plan_id = ?", planID)
	err = s.db.Read.WithContext(ctx).Model(&Case{}).Where("suite_id IN (?)", suites).Count(&report.Checked).Error
	report.Checked += summary.Rows
	return report, err
}
