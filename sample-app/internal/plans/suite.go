package plans

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// Suite returns a suite.
func (s *Service) Suite(ctx context.Context, id int64) (Suite, error) {
	return load[Suite](s.db.Read.WithContext(ctx), "suite", id)
}

// Tree returns every suite of a plan, the root first, ordered by path.
func (s *Service) Tree(ctx context.Context, planID int64) ([]Suite, error) {
	var suites []Suite
	if err := s.db.Read.WithContext(ctx).Where("plan_id = ?", planID).Find(&suites).Error; err != nil {
		return nil, err
	}
	if len(suites) == 0 {
		return nil, fmt.Errorf("%w: plan %d", pathlock.ErrNotFound, planID)
	}
	// MySQL would compare only the beginnings of long paths (max_sort_length).
	slices.SortFunc(suites, func(a, b Suite) int { return strings.Compare(a.Path, b.Path) })
	return suites, nil
}

// CreateSuite creates a suite below another one of the plan.
func (s *Service) CreateSuite(ctx context.Context, planID, parentID int64, name string) (Suite, error) {
	return put(ctx, s, func(tx *gorm.DB) (Suite, error) {
		suite := Suite{PlanID: planID, ParentID: &parentID, Name: name, Version: 1}
		return suite, refused(tx.Create(&suite).Error, func() (Suite, error) {
			if _, err := load[Plan](tx, "plan", planID); err != nil {
				return Suite{}, err
			}
			return suiteOf(tx, planID, "parent_id", parentID)
		})
	})
}

// RenameSuite gives a suite another name.
func (s *Service) RenameSuite(ctx context.Context, id int64, name string) (Suite, error) {
	return put(ctx, s, func(tx *gorm.DB) (suite Suite, err error) {
		err = gormplugin.Rename(tx, &suite, id, name)
		return suite, refused(err, func() (Suite, error) { return branch(tx, id) })
	})
}

// MoveSuite moves a suite to below another one of the same plan.
func (s *Service) MoveSuite(ctx context.Context, id, parentID int64) (Suite, error) {
	return put(ctx, s, func(tx *gorm.DB) (suite Suite, err error) {
		err = gormplugin.Move(tx, &suite, id, gormplugin.Below(parentID))
		return suite, refused(err, func() (Suite, error) {
			suite, err := branch(tx, id)
			if err != nil {
				return suite, err
			}
			return suiteOf(tx, suite.PlanID, "parent_id", parentID)
		})
	})
}

// CopySuite copies a suite with its subtree and all cases to below another suite of the same plan.
// That one may lie in the subtree: the copy is of the subtree as it was before.
func (s *Service) CopySuite(ctx context.Context, id, parentID int64, name string) (Suite, error) {
	return put(ctx, s, func(tx *gorm.DB) (top Suite, err error) {
		source, err := branch(tx, id)
		if err != nil {
			return top, err
		}
		if _, err := suiteOf(tx, source.PlanID, "parent_id", parentID); err != nil {
			return top, err
		}
		_, err = gormplugin.Copy(tx, &top, id, gormplugin.Below(parentID), gormplugin.CopyAs(name),
			gormplugin.CopyValues(map[string]any{"version": 1}), gormplugin.CopyLeaves(&Case{}, nil))
		return top, err
	})
}

// DeleteSuite moves a suite with its subtree and all cases into the recycle bin.
func (s *Service) DeleteSuite(ctx context.Context, id int64) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		if _, err := branch(tx, id); err != nil {
			return err
		}
		if _, err := gormplugin.Delete(tx, &Suite{}, id); err != nil {
			return err
		}
		return recycleSuite(tx, id)
	})
}

// branch loads a suite that is not the root of a plan.
func branch(tx *gorm.DB, id int64) (Suite, error) {
	suite, err := load[Suite](tx, "suite", id)
	if err == nil && suite.IsRoot() {
		err = &InvalidError{"id", "is the root suite of a plan, which cannot be changed"}
	}
	return suite, err
}

// suiteOf loads the suite that an argument names, and refuses one of another plan.
func suiteOf(tx *gorm.DB, planID int64, field string, id int64) (Suite, error) {
	suite, err := load[Suite](tx, "suite", id)
	if err == nil && suite.PlanID != planID {
		err = &InvalidError{field, "is a suite of another plan"}
	}
	return suite, err
}
