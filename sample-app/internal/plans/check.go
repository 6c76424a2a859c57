package plans

import (
	"context"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
	"github.com/pathlock-go/pathlock/sample-app/internal/treecheck"
)

// Report is the outcome of a check.
type Report struct {
	// Checked is the number of suites and cases checked.
	Checked  int                 `json:"checked"`
	Problems []treecheck.Problem `json:"problems"`
}

// Check compares every suite and case of a plan with its parent and its siblings, as of one
// instant.
func (s *Service) Check(ctx context.Context, planID int64) (Report, error) {
	var suites []treecheck.Suite
	var cases []treecheck.Case
	err := s.snapshot(ctx, func(tx *gorm.DB) error {
		if _, err := load[model.Plan](tx, "plan", planID); err != nil {
			return err
		}
		err := tx.Raw(`SELECT id, parent_id, name, path FROM suites WHERE plan_id = ? AND deleted_at IS NULL`, planID).Scan(&suites).Error
		if err != nil {
			return err
		}
		// Cases of deleted suites are read, too: a live one is an orphan.
		return tx.Raw(`SELECT c.id, c.suite_id, c.name FROM cases c JOIN suites s ON s.id = c.suite_id
			WHERE s.plan_id = ? AND c.deleted_at IS NULL`, planID).Scan(&cases).Error
	})
	return Report{Checked: len(suites) + len(cases), Problems: treecheck.Check(suites, cases)}, err
}
