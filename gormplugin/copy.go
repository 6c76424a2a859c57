package gormplugin

import (
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
	"gorm.io/gorm"
)

// CopyOption is an option of [Copy].
type CopyOption func(*write.CopyRequest)

// CopyAs gives the copy's top row a name; the default is the name of the row that is copied. Copy
// refuses it for a table without names.
func CopyAs(name string) CopyOption { return func(c *write.CopyRequest) { c.Name = name } }

// SnapshotSource takes no path lock on the source, like [lockspec.Spec.SnapshotSource] in a spec.
// The copy shows the subtree as it was at one instant, and does not wait for those who are about to
// change it.
func SnapshotSource() CopyOption { return func(c *write.CopyRequest) { c.Snapshot = true } }

// CopyValues sets columns of all rows of the copy, by column or field name, instead of copying
// them. A value may be an expression, such as gorm.Expr("UUID()"), which the database evaluates for
// each row; its columns are those of the row that is copied. A func() any is called for each row,
// and again when the database has aborted the transaction. If the database does not number the rows
// itself, the values must include the key. They cannot include the tree's own columns.
func CopyValues(values map[string]any) CopyOption {
	return func(c *write.CopyRequest) { c.Values = values }
}

// CopyLeaves also copies the leaves in the subtree, those of a registered leaf model, with values
// as for [CopyValues].
func CopyLeaves(leaf any, values map[string]any) CopyOption {
	return func(c *write.CopyRequest) { c.Leaves = append(c.Leaves, write.LeafCopy{Model: leaf, Values: values}) }
}

// CopyAttached calls attach after the rows have been copied, once for every hundred rows, to copy
// what belongs to them in other tables. attach gets the transaction, and a query that says which of
// these rows is the copy of which, with the columns old_id and new_id, to join in SQL:
//
//	tx.Exec(`INSERT INTO labels (suite_id, text)
//		SELECT m.new_id, l.text FROM labels l JOIN (?) m ON m.old_id = l.suite_id`, pairs)
//
// Raw SQL of tx is not checked, since the query names the guarded table. Copy returns an error of
// attach.
func CopyAttached(attach func(tx, pairs *gorm.DB) error) CopyOption {
	return func(c *write.CopyRequest) { c.Attach = append(c.Attach, attach) }
}

// Copy copies the row with the id, and its subtree, to a place. The place may be in another tree of
// the model, or in the subtree itself: Copy then copies what was there before. Copy returns how
// many rows of the model it has copied, and fills dest, a pointer to a struct of the model, with
// the new top row. It also copies a leaf, to another row of the model above.
//
// It copies all columns of the model, except
//
//   - the key, which the database gives (see [CopyValues]);
//   - the tree's own columns;
//   - the version, which begins at 0 unless [CopyValues] sets it, and the fence;
//   - the times of creation and update, which are now.
//
// Softly deleted rows are not copied, and no hooks run. Columns that the model does not have get
// their defaults.
//
// The locks are S on the row, unless there is [SnapshotSource], and X on the new name slot.
// Whatever the lock store does, the database holds share locks on the copied rows and leaves until
// the transaction ends, so that the copy shows the subtree as it was at one instant. If a row joins
// the subtree meanwhile, the whole copy runs again ([ErrRetry]). Two or three statements copy up to
// a hundred rows of one level.
//
// Copy takes part in a transaction of the caller's. Otherwise it begins its own, and retries it if
// the database aborts it; it may then call the function given to [CopyAttached] more than once.
//
// Errors match one of the following, or are those of every write. Nothing is written then. If the
// database refuses a row below the top, or a path of ids turns out not to fit, that ends the
// transaction.
//
//   - [pathlock.ErrNotFound];
//   - [ErrNameTaken];
//   - [ErrRootRow] for the top of a tree with a root row, [ErrMisplaced] for the top if the row is
//     a leaf;
//   - [pathlock.ErrInvalidPath];
//   - [ErrPathTooLong] if the path of a copied row would not fit;
//   - [ErrUnsupported];
//   - [pathlock.ErrPathChanged] if the paths of rows below do not follow from their parents'.
func Copy(db *gorm.DB, dest, id any, to Place, opts ...CopyOption) (rows int64, err error) {
	p, t, err := unconditional(db, dest)
	if err != nil {
		return 0, err
	}
	c := &write.CopyRequest{Table: t}
	for _, opt := range opts {
		opt(c)
	}
	into := t.StructOf(dest)
	if !into.IsValid() {
		return 0, fmt.Errorf("%w: Copy needs a pointer to a %s", gorm.ErrInvalidValue, t.Schema.Name)
	}
	if c.ID, err = t.KeyOf(db, id); err != nil {
		return 0, err
	}
	if c.Parent, err = to.parentKey(db, t, c.ID); err != nil {
		return 0, err
	}
	if err := p.CheckCopy(c); err != nil {
		return 0, err
	}
	err = p.operate(db, func(db *gorm.DB) error {
		return p.Copy(db.Session(&gorm.Session{NewDB: true}).Model(t.Fresh()), c)
	})
	if err != nil {
		return 0, err
	}
	into.Set(c.Made)
	return c.Rows, nil
}
