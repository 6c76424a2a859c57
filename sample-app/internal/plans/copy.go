package plans

import (
	"context"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// CopySuite copies a suite, with everything below and all cases, to below another suite of the same
// plan. The copy is of the subtree as it was before, so that it may well go into the subtree
// itself.
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
		_, err = gormplugin.Copy(tx, &top, id, parentID, gormplugin.CopyAs(name),
			gormplugin.CopyValues(map[string]any{"version": 1}), gormplugin.CopyLeaves(&model.Case{}, nil))
		return tooDeep("parent_id", nameTaken(err, name))
	})
	return top, err
}
