package plans

import (
	"context"

	"gorm.io/gorm"
)

// Announcer learns of each change after its commit, and must not block.
type Announcer interface {
	PlanChanged(id int64)
	// SuiteChanged is called for a suite that changed, or the suite of a case that did.
	SuiteChanged(id int64)
}

// Announce has the service tell a of its changes. It must be called before the first change.
func (s *Service) Announce(a Announcer) { s.announcer = a }

// afterCommit runs fn once the transaction of tx has been committed.
func afterCommit(tx *gorm.DB, fn func()) {
	if after, ok := tx.Statement.Context.Value(afterKey{}).(*[]func()); ok {
		*after = append(*after, fn)
	}
}

// afterKey is the context key of what runs after a commit.
type afterKey struct{}

// announcing returns a context in which afterCommit works, and what runs that.
func announcing(ctx context.Context) (announcing context.Context, committed func()) {
	after := &[]func(){}
	return context.WithValue(ctx, afterKey{}, after), func() {
		for _, fn := range *after {
			fn()
		}
	}
}

// planChanged announces that the transaction has changed a plan.
func (s *Service) planChanged(tx *gorm.DB, id int64) {
	if s.announcer != nil {
		afterCommit(tx, func() { s.announcer.PlanChanged(id) })
	}
}

// suiteChanged announces that the transaction has changed a suite, or a case in it.
func (s *Service) suiteChanged(tx *gorm.DB, id int64) {
	if s.announcer != nil {
		afterCommit(tx, func() { s.announcer.SuiteChanged(id) })
	}
}
