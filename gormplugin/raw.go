package gormplugin

import (
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
	"gorm.io/gorm"
)

// Assert guards writes below a node by other means than GORM's create, update and delete, such as
// raw SQL ([AllowRawWrites]). In the transaction tx it row-locks the node with the id and its
// ancestors. It checks that every path on the way is the parent's path + "/" + name, and that
// nothing is deleted. It returns where the node is, and stays until the end of tx. Of a leaf it
// checks the parent in this way, and locks the leaf's own row.
//
// It takes no path lock; [LockSubtrees] does. model is a registered one, and id a primary key as
// the model has it, or its text form. Errors match [pathlock.ErrNotFound], [pathlock.ErrInvalidID],
// [pathlock.ErrPathChanged], [ErrRetry] or [ErrUnmanagedTransaction], the last one also where tx is
// no transaction.
func Assert(tx *gorm.DB, model, id any) (pathlock.Location, error) {
	locations, err := AssertAll(tx, model, id)
	if err != nil {
		return pathlock.Location{}, err
	}
	return locations[0], nil
}

// AssertAll is [Assert] for several nodes of one model, at the cost of about one: their locations
// are in the order of ids. Two callers that assert the same nodes in one call each do not deadlock.
func AssertAll(tx *gorm.DB, model any, ids ...any) ([]pathlock.Location, error) {
	return guardNodes(tx, model, ids, false)
}

// LockSubtrees prepares a rewrite of whole subtrees by raw SQL ([AllowRawWrites]). It takes the
// exclusive path locks on the nodes, as a rename or a deletion of them would, and waits for at most
// [TransactionWait]. Then it asserts the nodes as [AssertAll] does. Until the end of tx nobody else
// writes anything at or below them through the plugin: the path locks prevent that, and the row
// locks on the nodes do where the path locks are lost.
//
// The caller has to leave the tree right: at the commit every path has to be the parent's path +
// "/" + name again. A new name or a new parent needs a lock on its slot, too: prefer Update for
// those.
//
// Errors are those of [Assert], and package pathlock's where a lock is not granted.
func LockSubtrees(tx *gorm.DB, model any, ids ...any) ([]pathlock.Location, error) {
	return guardNodes(tx, model, ids, true)
}

// guardNodes does the work of [AssertAll], and of [LockSubtrees] if lock is set.
func guardNodes(tx *gorm.DB, model any, ids []any, lock bool) ([]pathlock.Location, error) {
	p, t, err := subject(tx, model)
	if err != nil {
		return nil, err
	}
	keys := make([]any, len(ids))
	for i, id := range ids {
		if keys[i], err = t.KeyOf(tx, id); err != nil {
			return nil, err
		}
	}
	db := tx.Session(&gorm.Session{NewDB: true, Context: p.guard.Join(tx.Statement.Context)}).Model(t.Fresh())
	return p.engine.AssertNodes(db, t, keys, lock)
}

// AllowRawWrites returns a DB on which [gorm.DB.Exec] and [gorm.DB.Raw] may write to guarded
// tables, or read them in a write to others; db itself stays as it is. The plugin does not keep the
// tree right there: the caller is responsible for paths, descendants, leaves and locks, and calls
// [LockSubtrees] or [Assert] first, in the same transaction. The generic API, gorm.G, drops the
// permission, as all settings of a session.
//
//	gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET note = '' WHERE plan_id = ?", plan)
//
// Writes by a model are guarded there as everywhere.
func AllowRawWrites(db *gorm.DB) *gorm.DB {
	return write.Allow(db)
}

// WithoutTripwire lets raw SQL write to guarded tables everywhere, as [AllowRawWrites] does for one
// call.
func WithoutTripwire() Option { return func(p *Plugin) { p.engine.Tripwire = false } }
