package gormplugin

import (
	"context"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
	"github.com/pathlock-go/pathlock/internal/gincontext"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// The arguments of all operations on trees (Rename, Move, Copy, Delete, and the queries Subtree,
// Ancestors, Children, Leaves and At) mean the same:
//
//   - db is the DB that GORM's own methods would be called on, with the caller's context;
//     conditions on it narrow down which rows are found, or are refused;
//   - model is a pointer to a registered model, and says which table is meant;
//   - id is a primary key as the model has it, or its text form.

// subject returns the plugin that db uses and the table that a model stands for.
func subject(db *gorm.DB, model any) (*inUse, *table.Table, error) {
	p, err := pluginOf(db)
	if err != nil {
		return nil, nil, err
	}
	t, err := p.TableFor(model)
	return p, t, err
}

// unconditional is [subject] for operations that would ignore conditions on db: it refuses such
// conditions.
func unconditional(db *gorm.DB, model any) (*inUse, *table.Table, error) {
	p, t, err := subject(db, model)
	if err == nil && write.Narrows(begun(db).Statement) {
		err = t.Unsupported("Copy, Resolve, Assert and LockSubtrees take no conditions, joins or scopes")
	}
	return p, t, err
}

// subjectRow returns what [subject] does, and the key of the row with the id.
func subjectRow(db *gorm.DB, model, id any) (p *inUse, t *table.Table, key any, err error) {
	if p, t, err = subject(db, model); err == nil {
		key, err = t.KeyOf(db, id)
	}
	return p, t, key, err
}

// begun returns db as GORM's own methods would continue it. The DB of a hook carries the statement
// that the hook belongs to, but stands for a new statement in its transaction. A GORM session of
// such a DB would carry the hook's statement again.
func begun(db *gorm.DB) *gorm.DB { return db.Clauses() }

// operate runs do, in the caller's transaction if db is one. Otherwise do makes a transaction of
// its own, and operate retries it if the database aborts it.
func (p *inUse) operate(db *gorm.DB, do func(db *gorm.DB) error) error {
	if db.Error != nil {
		return db.Error
	}
	running, err := p.TransactionOf(db)
	if err != nil {
		return err
	}
	db = begun(db)
	under := func(ctx context.Context) error { return do(db.Session(&gorm.Session{Context: ctx})) }
	ctx := gincontext.Join(db.Statement.Context)
	if running != nil {
		return under(ctx)
	}
	return txn.Retry(ctx, db, p.MaxTries, p.Locker, under)
}

// Rename renames the row with the id, and rewrites the paths of all its descendants in one
// statement. It works as db.Model(model).Update, with the same locks: X on the row and on its new
// name slot. Hooks run on an empty model, not on the row's values; the update time is set. A row
// that already has the name stays as it is. Rename also renames leaves, which have no descendants.
//
// If model points to a struct, Rename sets its key, tree, parent, name, paths and version to
// those of the row, and no other fields.
//
// Rename takes part in a transaction of the caller's. Otherwise it begins its own, and retries it
// if the database aborts it.
//
// Errors match one of the following, or are those of every write. Then nothing is written.
//
//   - [pathlock.ErrNotFound];
//   - [ErrNameTaken];
//   - [pathlock.ErrInvalidPath] if the name cannot be one;
//   - [ErrPathTooLong] if the path of a descendant would not fit;
//   - [ErrMisplaced] for the root row of a tree.
func Rename(db *gorm.DB, model, id any, name string) error {
	p, t, key, err := subjectRow(db, model, id)
	if err != nil {
		return err
	}
	if t.Name == nil {
		return t.Unsupported("the model has no column for a name: rename the row by Updates, it stays where it is")
	}
	return p.assign(db, t, model, key, t.Name, name)
}

// assign updates one column of the row with the key, and what the model has of the row's place.
func (p *inUse) assign(db *gorm.DB, t *table.Table, model, key any, f *schema.Field, value any) error {
	if err := t.IsWritable(f); err != nil {
		return err
	}
	return p.operate(db, func(db *gorm.DB) error {
		e := &write.Operation{ID: key, Into: t.StructOf(model)}
		return e.Statement(db, t).Update(f.DBName, value).Error
	})
}

// Place is where [Move] and [Copy] put a row: see [Below] and [Top].
type Place struct{ parent any }

// Below is the place below the row with the key. A key that is nil, or a nil pointer, means [Top].
// A [pathlock.Path] names the row, or the top, in the tree of the moved or copied row.
func Below(parent any) Place { return Place{parent} }

// Top is the place at the top, in a tree that has no root row.
func Top() Place { return Place{} }

// parentKey returns the key of the row that the row with the id goes below, nil for the top.
func (to Place) parentKey(db *gorm.DB, t *table.Table, id any) (any, error) {
	path, ok := to.parent.(pathlock.Path)
	if !ok {
		return t.ParentKey(db, to.parent)
	}
	n, err := t.Find(begun(db), id)
	if err == nil && t.IsLeaf {
		n, err = t.Above.Find(begun(db), n.Parent)
	}
	if err != nil {
		return nil, err
	}
	goal := plan.Spot{Tree: n.Tree, Path: path.Column()}
	lock := ""
	if _, running := db.Statement.ConnPool.(gorm.TxCommitter); running {
		lock = t.Dialect.Newest // the transaction's snapshot may be old
	}
	at, _, err := t.Above.AtPaths(begun(db), nil, []plan.Spot{goal}, lock)
	if err != nil {
		return nil, err
	}
	found, err := t.Above.Reach(plan.Change{Path: goal.Path}, at[goal])
	if err != nil {
		return nil, err
	}
	return *found.Parent, nil
}

// Move moves the row with the id, and its subtree, to a place in the same tree. The row keeps its
// name. The locks are X on the row and on its new name slot. Otherwise it works like [Rename].
//
// Errors match those of [Rename], and
//
//   - [ErrWouldCycle] if the parent is the row itself or lies below it: no path lock has been
//     taken;
//   - [pathlock.ErrNotFound] if the row or the parent is not there;
//   - [ErrRootRow] for the top of a tree with a root row;
//   - [ErrMisplaced] for a parent in another tree, for the root row, and for the top if the row is
//     a leaf.
func Move(db *gorm.DB, model, id any, to Place) error {
	p, t, key, err := subjectRow(db, model, id)
	if err != nil {
		return err
	}
	parent, err := to.parentKey(db, t, key)
	if err != nil {
		return err
	}
	return p.assign(db, t, model, key, t.Parent, t.ParentValue(parent))
}

// Delete deletes the row with the id and all its descendants, and returns how many rows it has
// deleted. It works as db.Delete(model, id), which counts the row alone, with the same lock: X on
// the row. If the model has a type such as gorm.DeletedAt, it marks the rows; on db.Unscoped(), or
// with a plain mark, it removes them for good. Rows that had been deleted before stay as they are.
// It does not delete the leaves in the subtree: see [Leaves].
//
// Delete takes part in a transaction of the caller's. Otherwise it begins its own, and retries it
// if the database aborts it. The error for a row that is not there, or deleted already, matches
// [pathlock.ErrNotFound].
func Delete(db *gorm.DB, model, id any) (rows int64, err error) {
	p, t, key, err := subjectRow(db, model, id)
	if err != nil {
		return 0, err
	}
	err = p.operate(db, func(db *gorm.DB) error {
		e := &write.Operation{ID: key}
		result := e.Statement(db, t).Delete(t.Fresh())
		rows = result.RowsAffected + e.Along
		return result.Error
	})
	if err != nil {
		rows = 0
	}
	return rows, err
}

// Assert guards writes below a node that do not use GORM's create, update and delete, such as raw
// SQL ([AllowRawWrites]). In the transaction tx it row-locks the node with the id and its
// ancestors. It checks that every path on the way is the parent's path + "/" + name, and that no
// row is deleted. It returns where the node is, and where it stays until tx ends. For a leaf, it
// checks the parent this way, and locks the leaf's row.
//
// It takes no path lock; [LockSubtrees] does. model is a registered one, and id a primary key as
// the model has it, or its text form. Errors match [pathlock.ErrNotFound], [pathlock.ErrInvalidID],
// [pathlock.ErrPathChanged], [ErrRetry], [ErrUnsupported] if tx has conditions, or
// [ErrUnmanagedTransaction], also where tx is no transaction.
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
// [TransactionWait]. Then it asserts the nodes as [AssertAll] does. Until tx ends, nobody else
// writes at or below them through the plugin: the path locks prevent it, and if they are lost, the
// row locks on the nodes do.
//
// The caller must leave the tree right: at the commit, every path must again be the parent's path +
// "/" + name. A new name or a new parent needs a lock on its slot, too: prefer Update for those.
//
// Errors are those of [Assert], and package pathlock's if a lock is not granted.
func LockSubtrees(tx *gorm.DB, model any, ids ...any) ([]pathlock.Location, error) {
	return guardNodes(tx, model, ids, true)
}

// guardNodes does the work of [AssertAll], and of [LockSubtrees] if lock is set.
func guardNodes(tx *gorm.DB, model any, ids []any, lock bool) ([]pathlock.Location, error) {
	p, t, err := unconditional(tx, model)
	if err != nil {
		return nil, err
	}
	keys := make([]any, len(ids))
	for i, id := range ids {
		if keys[i], err = t.KeyOf(tx, id); err != nil {
			return nil, err
		}
	}
	db := tx.Session(&gorm.Session{NewDB: true, Context: gincontext.Join(tx.Statement.Context)}).Model(t.Fresh())
	return p.AssertNodes(db, t, keys, lock)
}

// AllowRawWrites returns a DB on which [gorm.DB.Exec] and [gorm.DB.Raw] may write to guarded
// tables, or read them in a write to others; db itself stays as it is. The plugin does not keep the
// tree right there: the caller is responsible for paths, descendants, leaves and locks, and calls
// [LockSubtrees] or [Assert] first, in the same transaction. The generic API, gorm.G, drops the
// permission, as it drops all settings of a session.
//
//	gormplugin.AllowRawWrites(tx).Exec("UPDATE suites SET note = '' WHERE plan_id = ?", plan)
//
// Writes by a model are guarded there as everywhere.
func AllowRawWrites(db *gorm.DB) *gorm.DB {
	return write.Allow(db)
}

// AllowAllRawWrites lets raw SQL write to guarded tables everywhere, as [AllowRawWrites] does for
// one call.
func AllowAllRawWrites() Option { return func(p *Plugin) { p.settings.Tripwire = false } }
