package plans

import (
	"context"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// Cases returns the cases of a suite, ordered by name.
func (s *Service) Cases(ctx context.Context, suiteID int64) ([]Case, error) {
	suite, err := s.Suite(ctx, suiteID)
	if err != nil {
		return nil, err
	}
	cases := []Case{}
	err = s.db.Read.WithContext(ctx).Where("suite_id = ?", suiteID).Order("name").Find(&cases).Error
	for i := range cases {
		cases[i].Path = suite.Path + "/" + cases[i].Name
	}
	return cases, err
}

// CreateCase creates a case in a suite.
func (s *Service) CreateCase(ctx context.Context, suiteID int64, name, body string) (Case, error) {
	return put(ctx, s, func(tx *gorm.DB) (Case, error) {
		c := Case{SuiteID: suiteID, Name: name, Body: body}
		return c, tx.Create(&c).Error
	})
}

// CaseChange is what [Service.EditCase] changes. A nil field stays as it is.
type CaseChange struct{ Name, Body *string }

// EditCase changes a case's name, its body, or both.
func (s *Service) EditCase(ctx context.Context, id int64, change CaseChange) (Case, error) {
	assigned := map[string]any{}
	if change.Name != nil {
		assigned["name"] = *change.Name
	}
	if change.Body != nil {
		assigned["body"] = *change.Body
	}
	return put(ctx, s, func(tx *gorm.DB) (Case, error) {
		written := Case{ID: id}
		if err := tx.Model(&written).Updates(assigned).Error; err != nil {
			return written, err
		}
		// An UPDATE of a missing case changes no row.
		c, err := load[Case](tx, "case", id)
		if err != nil {
			return c, err
		}
		suite, err := load[Suite](tx, "suite", c.SuiteID)
		c.Path = suite.Path + "/" + c.Name
		return c, err
	})
}

// MoveCase moves a case into another suite of the same plan.
func (s *Service) MoveCase(ctx context.Context, id, suiteID int64) (Case, error) {
	return put(ctx, s, func(tx *gorm.DB) (Case, error) {
		var moved Case
		if err := gormplugin.Move(tx, &moved, id, gormplugin.Below(suiteID)); err != nil {
			return moved, refused(err, func() (Case, error) { return caseBeside(tx, id, suiteID) })
		}
		// The place is the one that was asserted, whatever others have made of it since.
		c, err := load[Case](tx, "case", id)
		moved.Body = c.Body
		return moved, err
	})
}

// CopyCase copies a case into a suite of the same plan.
func (s *Service) CopyCase(ctx context.Context, id, suiteID int64, name string) (Case, error) {
	return put(ctx, s, func(tx *gorm.DB) (Case, error) {
		c, err := caseBeside(tx, id, suiteID)
		if err != nil {
			return c, err
		}
		_, err = gormplugin.Copy(tx, &c, id, gormplugin.Below(suiteID), gormplugin.CopyAs(name))
		return c, err
	})
}

// DeleteCase moves a case into the recycle bin.
func (s *Service) DeleteCase(ctx context.Context, id int64) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		if _, err := gormplugin.Delete(tx, &Case{}, id); err != nil {
			return err
		}
		return recycleCase(tx, id)
	})
}

// caseBeside loads a case for a suite of the same plan, and refuses a suite of another plan.
func caseBeside(tx *gorm.DB, id, suiteID int64) (Case, error) {
	c, err := load[Case](tx, "case", id)
	if err != nil {
		return c, err
	}
	from, err := load[Suite](tx, "suite", c.SuiteID)
	if err == nil {
		_, err = suiteOf(tx, from.PlanID, "suite_id", suiteID)
	}
	return c, err
}
