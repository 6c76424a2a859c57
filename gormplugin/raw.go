package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/tripwire"
	"gorm.io/gorm"
)

// AllowRawWrites returns a DB on which [gorm.DB.Exec] and [gorm.DB.Raw] may write to guarded
// tables; db itself stays as it is. Nothing looks after the tree there: paths, descendants, leaves
// and locks are the caller's business, who calls [LockSubtrees] or [Assert] first, in the same
// transaction.
//
//	gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET note = '' WHERE plan_id = ?", plan)
//
// Writes by a model are guarded there as everywhere.
func AllowRawWrites(db *gorm.DB) *gorm.DB {
	return tripwire.Allow(db)
}

// WithoutTripwire lets raw SQL write to guarded tables everywhere, as [AllowRawWrites] does per
// call.
func WithoutTripwire() Option { return func(p *Plugin) { p.wire.Armed = false } }
