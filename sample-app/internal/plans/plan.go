package plans

import (
	"context"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"strconv"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// CreatePlan creates a plan with an empty tree.
func (s *Service) CreatePlan(ctx context.Context, project, name string) (Plan, error) {
	if err := CheckProject(project); err != nil {
		return Plan{}, err
	}
	return put(ctx, s, func(tx *gorm.DB) (Plan, error) {
		plan := Plan{Project: project, Name: name}
		if err := tx.Create(&plan).Error; err != nil {
			return plan, planNameTaken(err, name)
		}
		root := Suite{PlanID: plan.ID, Version: 1}
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
	err := CheckName(project)
	if len(project) > MaxNameLength { // in bytes: the tree of the project's name gate has that limit
		err = errors.New("must have at most 255 bytes")
	}
	if err != nil {
		err = &InvalidError{"project", err.Error()}
	}
	return err
}

// Plans returns the plans of a project, ordered by name.
func (s *Service) Plans(ctx context.Context, project string) ([]Plan, error) {
	plans := []Plan{}
	err := s.db.Read.WithContext(ctx).Where("project = ?", project).Order("name").Find(&plans).Error
	return plans, err
}

// Plan returns a plan.
func (s *Service) Plan(ctx context.Context, id int64) (Plan, error) {
	return load[Plan](s.db.Read.WithContext(ctx), "plan", id)
}

// RenamePlan gives a plan another name.
func (s *Service) RenamePlan(ctx context.Context, id int64, name string) (Plan, error) {
	return put(ctx, s, func(tx *gorm.DB) (Plan, error) {
		plan, err := load[Plan](forUpdate(tx), "plan", id)
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
		plan, err := load[Plan](forUpdate(tx), "plan", id)
		if err != nil {
			return err
		}
		// Writers in the tree lock the root row: this waits for them, or they find the row gone.
		if err := tx.Delete(&Suite{ID: plan.RootID}).Error; err != nil {
			return err
		}
		var suites []int64
		if err := tx.Unscoped().Model(&Suite{}).Where("plan_id = ?", id).Pluck("id", &suites).Error; err != nil {
			return err
		}
		if err := purge(tx, id); err != nil {
			return err
		}
		for _, statement := range []string{`DELETE FROM cases WHERE suite_id IN ?`, `DELETE FROM suites WHERE id IN ?`} {
			if err := eachBatch(tx, statement, suites); err != nil {
				return err
			}
		}
		if err := tx.Where("plan_id = ?", id).Delete(&PlanChange{}).Error; err != nil {
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
	err := s.db.Read.WithContext(ctx).Model(&Plan{}).Select("project AS name", "COUNT(*) AS plans").
		Group("project").Order("project").Limit(maxProjects).Find(&projects).Error
	return projects, err
}

// shards is how many counters a plan has.
const shards = 16

// Changed notes in a transaction that the tree of a plan has changed. It belongs at the end: the
// counter is locked until the commit.
func Changed(tx *gorm.DB, planID int64) error {
	change := PlanChange{PlanID: planID, Shard: rand.N(shards), Number: 1}
	counted := tx.Exec(`UPDATE plan_changes SET number = number + 1 WHERE plan_id = ? AND shard = ?`, change.PlanID, change.Shard)
	if counted.Error != nil || counted.RowsAffected > 0 {
		return counted.Error
	}
	first := clause.OnConflict{
		Columns:   []clause.Column{{Name: "plan_id"}, {Name: "shard"}},
		DoUpdates: clause.Assignments(map[string]any{"number": gorm.Expr("plan_changes.number + 1")}),
	}
	return tx.Clauses(first).Create(&change).Error
}

// Revision returns a number that changes with the plan's name, and when the app changes its tree.
// It says nothing of cases.
func (s *Service) Revision(ctx context.Context, plan Plan) (uint32, error) {
	var changes int64
	err := s.db.Read.WithContext(ctx).Model(&PlanChange{}).Where("plan_id = ?", plan.ID).
		Select("COALESCE(SUM(number), 0)").Scan(&changes).Error
	return crc32.ChecksumIEEE(strconv.AppendInt([]byte(plan.Name+" "), changes, 10)), err
}

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
	checker, err := fsck.New(ctx, s.db.readPool(), s.db.Dialect, table)
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
