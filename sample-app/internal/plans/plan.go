package plans

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// CreatePlan creates a plan with an empty tree.
func (s *Service) CreatePlan(ctx context.Context, project, name string) (model.Plan, error) {
	if err := CheckProject(project); err != nil {
		return model.Plan{}, err
	}
	if err := checkName("name", name); err != nil {
		return model.Plan{}, err
	}
	return put(ctx, s, func(tx *gorm.DB) (model.Plan, error) {
		plan := model.Plan{Project: project, Name: name}
		if err := tx.Create(&plan).Error; err != nil {
			return plan, planNameTaken(err, name)
		}
		root := model.Suite{PlanID: plan.ID, Version: 1}
		if err := tx.Create(&root).Error; err != nil {
			return plan, err
		}
		plan.RootID = root.ID
		return plan, tx.Model(&plan).UpdateColumn("root_id", root.ID).Error
	})
}

// planNameTaken says which name the unique index over plans has refused.
func planNameTaken(err error, name string) error {
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return &NameTakenError{name}
	}
	return err
}

// CheckProject says why a string cannot be a project. Nobody creates projects: a project is a value
// that plans have.
func CheckProject(project string) error {
	// The tree of the project's name gate has a limit in bytes.
	if len(project) > model.MaxNameLength {
		return &InvalidError{"project", "must have at most 255 bytes"}
	}
	return checkName("project", project)
}

// Plans returns the plans of a project, ordered by name.
func (s *Service) Plans(ctx context.Context, project string) ([]model.Plan, error) {
	plans := []model.Plan{}
	err := s.db.Read.WithContext(ctx).Where("project = ?", project).Order("name").Find(&plans).Error
	return plans, err
}

// Plan returns a plan.
func (s *Service) Plan(ctx context.Context, id int64) (model.Plan, error) {
	return load[model.Plan](s.db.Read.WithContext(ctx), "plan", id)
}

// RenamePlan gives a plan another name.
func (s *Service) RenamePlan(ctx context.Context, id int64, name string) (model.Plan, error) {
	if err := checkName("name", name); err != nil {
		return model.Plan{}, err
	}
	return put(ctx, s, func(tx *gorm.DB) (model.Plan, error) {
		plan, err := load[model.Plan](forUpdate(tx), "plan", id)
		if err != nil {
			return plan, err
		}
		plan.Name = name
		return plan, planNameTaken(tx.Model(&plan).UpdateColumn("name", name).Error, name)
	})
}

// DeletePlan deletes a plan with its tree and its recycle bin for good.
func (s *Service) DeletePlan(ctx context.Context, id int64) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		plan, err := load[model.Plan](forUpdate(tx), "plan", id)
		if err != nil {
			return err
		}
		// Writers in the tree lock the root row: this waits for them, or they find the row gone.
		if err := tx.Delete(&model.Suite{ID: plan.RootID}).Error; err != nil {
			return err
		}
		var suites, items []int64
		if err := tx.Unscoped().Model(&model.Suite{}).Where("plan_id = ?", id).Pluck("id", &suites).Error; err != nil {
			return err
		}
		if err := tx.Model(&model.RecycledItem{}).Where("plan_id = ?", id).Pluck("id", &items).Error; err != nil {
			return err
		}
		if err := purge(tx, items); err != nil {
			return err
		}
		if err := eachBatch(tx, `DELETE FROM cases WHERE suite_id IN ?`, suites); err != nil {
			return err
		}
		if err := eachBatch(tx, `DELETE FROM suites WHERE id IN ?`, suites); err != nil {
			return err
		}
		if err := tx.Where("plan_id = ?", id).Delete(&model.PlanChange{}).Error; err != nil {
			return err
		}
		return tx.Delete(&plan).Error
	})
}

// Project is a value that plans have, and the number of those.
type Project struct {
	Name  string `json:"name"`
	Plans int64  `json:"plans"`
}

// maxProjects is how many projects a list has at most.
const maxProjects = 1000

// Projects returns the projects that have plans, ordered by name.
func (s *Service) Projects(ctx context.Context) ([]Project, error) {
	projects := []Project{}
	err := s.db.Read.WithContext(ctx).Model(&model.Plan{}).Select("project AS name", "COUNT(*) AS plans").
		Group("project").Order("project").Limit(maxProjects).Find(&projects).Error
	return projects, err
}
