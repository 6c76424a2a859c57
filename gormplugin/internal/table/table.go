package table

import (
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// Table is a guarded table.
type Table struct {
	TableName string
	Namespace string
	Dialect   *dialect.Dialect
	Schema    *schema.Schema
	Key       *schema.Field
	Parent    *schema.Field
	Name      *schema.Field // the name
	Tree      *schema.Field // nil for a leaf
	// Path is the column that says where a row is, and from which its locks follow: the path of
	// names or, where there is none, that of ids. It is nil for a leaf.
	Path *schema.Field
	// ByIDs is set where Path is the path of ids. IDs is the column of one that stands beside a
	// path of names; optional.
	ByIDs   bool
	IDs     *schema.Field
	Version *schema.Field // optional
	Fence   *schema.Field // optional
	// told is the field of a leaf, no column, that gets its path; optional.
	told *schema.Field
	// MaxDepth is how many names the path of a row has at most.
	MaxDepth int
	// Deletion holds the columns that mark a row as deleted, if rows are deleted softly.
	Deletion []*schema.Field
	// types are the names of the columns' types, by column, once they are known.
	types atomic.Pointer[map[string]string]
	// zeroKeys are the values, in plain form, of keys that no row has.
	zeroKeys []any
	// Above is the table that the parents are in: the table itself, or a leaf's other one.
	Above *Table

	// index is what is known of the index over tree and path.
	index pathIndex
	// LearnedChildrenFirst is set once a foreign key has turned out to want rows deleted from the
	// leaves upwards.
	LearnedChildrenFirst atomic.Bool

	// recall is the context key of what a request has read of its trees, and believed is set where
	// a write may be planned on that.
	recall   recallKey
	believed bool
	// Ancestry is what was last seen above its rows.
	Ancestry ancestry
	// columns are those that say where a row is, and List is how a SELECT names them.
	columns []*schema.Field
	List    clause.Expression
	// Alive is the condition that a row is not deleted softly.
	Alive clause.Expression
	// ClausesOfDelete are the clauses that column types add to a DELETE, apart from the marks of
	// deletion.
	ClausesOfDelete []clause.Interface
}

// IsLeaf reports whether the rows have no path column of their own.
func (t *Table) IsLeaf() bool { return t.Above != t }

// TreeOf returns the lock domain of a tree column's value.
func (t *Table) TreeOf(value any) (pathlock.Tree, error) {
	if value == nil {
		return pathlock.Tree{}, fmt.Errorf("%w: %s: the column %q is empty", pathlock.ErrInvalidTree, t.TableName, t.Tree.DBName)
	}
	if binary, ok := value.(Bytes); ok {
		return pathlock.NewTree(t.Above.Namespace, fmt.Sprintf("%x", string(binary)))
	}
	return pathlock.NewTree(t.Above.Namespace, fmt.Sprint(value))
}

// RowName names a row in messages.
func (t *Table) RowName(id any) string { return t.TableName + " " + shown.ID(id) }

// Unsupported is the error of a refused write. The message says why, and what to use instead.
func (t *Table) Unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", fault.ErrUnsupported, t.TableName, fmt.Sprintf(format, args...))
}

// Misplaced is the error of a row that cannot have the place that was asked for.
func (t *Table) Misplaced(format string, args ...any) error {
	return &fault.MisplacedError{Table: t.TableName, Why: fmt.Sprintf(format, args...)}
}

// Damaged is the error of a row that the database has with a tree, a name or a path that none can
// have.
func (t *Table) Damaged(id any, err error) error {
	return &fault.DamagedRowError{Table: t.TableName, ID: id, Err: err}
}

// Fresh returns a new row of the model.
func (t *Table) Fresh() any { return reflect.New(t.Schema.ModelType).Interface() }
