package changes

import (
	"context"

	"github.com/pathlock-go/pathlock/sample-app/internal/model"
)

// SuiteWriter changes the tree of a plan.
type SuiteWriter interface {
	CreateSuite(ctx context.Context, planID, parentID int64, name string) (model.Suite, error)
	RenameSuite(ctx context.Context, id int64, name string) (model.Suite, error)
	MoveSuite(ctx context.Context, id, parentID int64) (model.Suite, error)
	CopySuite(ctx context.Context, id, parentID int64, name string) (model.Suite, error)
	DeleteSuite(ctx context.Context, id int64) error
}

// Announced returns a writer that does what w does, and tells feed of each change. It is for a
// writer that has no transactions to tell it.
func Announced(w SuiteWriter, feed *Feed) SuiteWriter { return &announced{w, feed} }

type announced struct {
	writer SuiteWriter
	feed   *Feed
}

func (a *announced) tell(s model.Suite, err error) (model.Suite, error) {
	if err == nil {
		a.feed.PlanChanged(s.PlanID)
	}
	return s, err
}

// CreateSuite implements [SuiteWriter].
func (a *announced) CreateSuite(ctx context.Context, planID, parentID int64, name string) (model.Suite, error) {
	return a.tell(a.writer.CreateSuite(ctx, planID, parentID, name))
}

// RenameSuite implements [SuiteWriter].
func (a *announced) RenameSuite(ctx context.Context, id int64, name string) (model.Suite, error) {
	return a.tell(a.writer.RenameSuite(ctx, id, name))
}

// MoveSuite implements [SuiteWriter].
func (a *announced) MoveSuite(ctx context.Context, id, parentID int64) (model.Suite, error) {
	return a.tell(a.writer.MoveSuite(ctx, id, parentID))
}

// CopySuite implements [SuiteWriter].
func (a *announced) CopySuite(ctx context.Context, id, parentID int64, name string) (model.Suite, error) {
	return a.tell(a.writer.CopySuite(ctx, id, parentID, name))
}

// DeleteSuite implements [SuiteWriter].
func (a *announced) DeleteSuite(ctx context.Context, id int64) error {
	err := a.writer.DeleteSuite(ctx, id)
	if err == nil {
		a.feed.SuiteChanged(id)
	}
	return err
}
