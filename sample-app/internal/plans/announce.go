package plans

import (
	"context"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin"
)

// Announcer learns of each change after its commit, and must not block.
type Announcer interface {
	PlanChanged(id int64)
	// SuiteChanged is called for a suite that changed, or the suite of a case that did.
	SuiteChanged(id int64)
}

// Announce has the service tell a of its changes. It must be called before the first change.
func (s *Service) Announce(a Announcer) { s.announcer = a }

// planChanged announces, after the commit, that the transaction has changed a plan.
func (s *Service) planChanged(tx *gorm.DB, id int64) error {
	return s.announce(tx, func(a Announcer) { a.PlanChanged(id) })
}

// suiteChanged announces, after the commit, that the transaction has changed a suite, or a case in
// it.
func (s *Service) suiteChanged(tx *gorm.DB, id int64) error {
	return s.announce(tx, func(a Announcer) { a.SuiteChanged(id) })
}

func (s *Service) announce(tx *gorm.DB, tell func(Announcer)) error {
	if s.announcer == nil {
		return nil
	}
	return gormplugin.AfterCommit(tx, func(context.Context) { tell(s.announcer) })
}
