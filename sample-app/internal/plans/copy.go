package plans

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// batch is how many rows one INSERT has at most.
const batch = 500

// CopySuite copies a suite, with everything below and all cases, to below
// another suite of the same plan. The copy is of the subtree as it was before, so that it may well
// go into the subtree itself.
func (s *Service) CopySuite(ctx context.Context, id, parentID int64, name string) (model.Suite, error) {
	if err := checkName("name", name); err != nil {
		return model.Suite{}, err
	}
	var top model.Suite
	err := s.write(ctx, func(tx *gorm.DB) error {
		source, err := branch(tx, id)
		if err != nil {
			return err
		}
		if err := checkParent(tx, source.PlanID, parentID); err != nil {
			return err
		}
		levels, cases, err := subtree(tx, source)
		if err != nil {
			return err
		}
		top = model.Suite{PlanID: source.PlanID, ParentID: &parentID, Name: name, Version: 1}
		if err := tx.Create(&top).Error; err != nil {
			return nameTaken(err, name)
		}
		if err := checkDepth("parent_id", model.Depth(top.Path)+len(levels)); err != nil {
			return err
		}
		copies := map[int64]int64{source.ID: top.ID}
		for _, level := range levels {
			if err := copyLevel(tx, level, copies); err != nil {
				return err
			}
		}
		return copyCases(tx, cases, copies)
	})
	return top, err
}

// subtree reads what is below a suite: the suites by level, and which cases there are.
func subtree(tx *gorm.DB, top model.Suite) (levels [][]model.Suite, cases []caseSize, err error) {
	var suites []model.Suite
	if err := below(tx, top.PlanID, top.Path).Find(&suites).Error; err != nil {
		return nil, nil, err
	}
	ids := []int64{top.ID}
	for _, suite := range suites {
		ids = append(ids, suite.ID)
		level := model.Depth(strings.TrimPrefix(suite.Path, top.Path)) - 1
		for len(levels) <= level {
			levels = append(levels, nil)
		}
		levels[level] = append(levels[level], suite)
	}
	for some := range slices.Chunk(ids, batch) {
		var found []caseSize
		if err := tx.Model(&model.Case{}).Select("id, LENGTH(body) AS bytes").Where("suite_id IN ?", some).Scan(&found).Error; err != nil {
			return nil, nil, err
		}
		cases = append(cases, found...)
	}
	return levels, cases, nil
}

// copyLevel copies suites whose parents have been copied.
func copyLevel(tx *gorm.DB, level []model.Suite, copies map[int64]int64) error {
	rows := make([]model.Suite, len(level))
	for i, suite := range level {
		parent, ok := copies[*suite.ParentID]
		if !ok {
			return fmt.Errorf("copy suite %d: its parent is not in the subtree", suite.ID)
		}
		rows[i] = model.Suite{PlanID: suite.PlanID, ParentID: &parent, Name: suite.Name, Version: 1}
	}
	if err := tx.CreateInBatches(&rows, batch).Error; err != nil {
		return err
	}
	for i, suite := range level {
		copies[suite.ID] = rows[i].ID
	}
	return nil
}

// caseSize is a case that is to be copied, and how long its body is.
type caseSize struct {
	ID    int64
	Bytes int
}

// batchBytes is how long the bodies in one INSERT are together, unless a single one is longer. MySQL
// refuses statements of more than max_allowed_packet, which is 16 MiB at least.
const batchBytes = 2 << 20

// copyCases copies the cases of copied suites.
func copyCases(tx *gorm.DB, cases []caseSize, copies map[int64]int64) error {
	var ids []int64
	bytes := 0
	for i, c := range cases {
		ids, bytes = append(ids, c.ID), bytes+c.Bytes
		if i+1 < len(cases) && len(ids) < batch && bytes+cases[i+1].Bytes <= batchBytes {
			continue
		}
		var rows []model.Case
		if err := tx.Where("id IN ?", ids).Find(&rows).Error; err != nil {
			return err
		}
		// Where no lock prevents it, a case may have gone elsewhere since the list was made.
		rows = slices.DeleteFunc(rows, func(c model.Case) bool { return copies[c.SuiteID] == 0 })
		for j, c := range rows {
			rows[j] = model.Case{SuiteID: copies[c.SuiteID], Name: c.Name, Body: c.Body}
		}
		if len(rows) > 0 {
			if err := tx.Create(&rows).Error; err != nil {
				return err
			}
		}
		ids, bytes = nil, 0
	}
	return nil
}
