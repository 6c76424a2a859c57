package table

import (
	"reflect"
	"sync/atomic"

	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Table is a guarded table.
type Table struct {
	plan.Shape
	Dialect *dialect.Dialect
	Schema  *schema.Schema
	Key     *schema.Field
	Parent  *schema.Field
	Name    *schema.Field // nil where the places of rows follow from their ids alone
	Tree    *schema.Field // nil for a leaf, and where all rows are in one tree
	// sole is the only tree of a table without a tree column, nil for others.
	sole any
	// Path is the column that says where a row is, and from which its locks follow: the path of
	// names or, where there is none, that of ids. Of a leaf it is the path of names, and optional.
	Path *schema.Field
	// IDs is the column of a path of ids that stands beside a path of names, or of a leaf's;
	// optional.
	IDs     *schema.Field
	Version *schema.Field // optional
	Fence   *schema.Field // optional
	// told is the field of a leaf, no column, that gets its path; optional.
	told *schema.Field
	// Deletion holds the columns that mark a row as deleted, if rows are deleted softly.
	Deletion []*schema.Field
	// plainMark is set where that is a plain column, which has GORM hide nothing, and when is what
	// it holds in deleted rows, "" for all but NULL and the zero value.
	plainMark         bool
	when, whenLiteral string
	// types are the names of the columns' types, by column, once they are known.
	types atomic.Pointer[map[string]string]
	// zeroKeys are the values, in plain form, of keys that no row has.
	zeroKeys []any
	// Above is the table that the parents are in: the table itself, or a leaf's other one.
	Above *Table
	// LeafPaths are the path columns of a leaf, and Leaves the leaves below a table that have some.
	LeafPaths []LeafPath
	Leaves    []*Table

	// index is what is known of the index over tree and path, or of a leaf's over its parent.
	index pathIndex
	// LearnedChildrenFirst is set once a foreign key has turned out to want rows deleted from the
	// leaves upwards.
	LearnedChildrenFirst atomic.Bool
	// Cascades is set where the model says ON DELETE CASCADE of the parent.
	Cascades bool

	ancestry ancestry
	// recall is the context key of what a request has read of its trees.
	recall recallKey
	// columns are those that say where a row is, and List is how a SELECT names them.
	columns []*schema.Field
	List    clause.Expression
	// Alive is the condition that a row is not deleted softly, and Seen that GORM does not hide it
	// for that.
	Alive, Seen clause.Expression
	// ClausesOfDelete are the clauses that column types add to a DELETE, apart from the marks of
	// deletion.
	ClausesOfDelete []clause.Interface
}

// setAbove sets the table that the parents are in.
func (t *Table) setAbove(above *Table) { t.Above, t.Shape.Above = above, &above.Shape }

// Fresh returns a new row of the model.
func (t *Table) Fresh() any { return reflect.New(t.Schema.ModelType).Interface() }
