package fsck

import (
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Table describes a table that holds trees. The names are those of the database.
type Table struct {
	// Table is the table's name: "suites" or "schema.suites".
	Table string
	// Key is the column of the primary key, which must have one column only.
	Key string
	// Tree is the column of the tree's id, such as a plan's; "" if all rows are in one tree.
	Tree string
	// SingleTree is the id of the only tree of a table without a column for it.
	SingleTree string
	// Parent is the column of the parent's key. It is NULL, or a zero value such as 0 or the nil
	// UUID, in a row at the top.
	Parent string
	// Name is the column of the row's name among its siblings. It is "" in a root row. A table with
	// a path of ids alone may have none: an id then stands in the place of a name, and orphans and
	// broken cycles go to the top.
	Name string
	// Path is the column of the materialised path. It may be "" if IDPath is not.
	Path string
	// IDPath is the column of the path of ids, such as "/1/17/203"; "" if there is none.
	IDPath string
	// PathForm and IDPathForm are how these columns spell paths, as the path of two names:
	// "/0/*/*/" for "/0/1/17/203/". "" means "/*/*". See gormplugin.Model.
	PathForm, IDPathForm string
	// Deleted is the column that marks rows as deleted; "" if there is none. A row is live if the
	// column is NULL, 0, false, "" or "0". Any time marks the row as deleted.
	Deleted string
	// DeletedWhen is the only value by which Deleted marks rows as deleted: "archived", "2". ""
	// means any value but those above.
	DeletedWhen string
	// Version is the column of a whole number that a repair increments whenever it changes the row;
	// "" if there is none.
	Version string
	// Leaves are other tables whose rows hang below rows of this one, and have paths: of their
	// parent, or of their own. They are in the trees of this table, whatever their descriptions say
	// of trees. What they have besides paths is not checked.
	Leaves []Table
	// Namespace is the first argument of [pathlock.NewTree] for the trees' locks. The second
	// argument is the value of the tree column, or SingleTree. "" means the table's name, as in
	// gormplugin.
	Namespace string
}

// DefaultTable describes a table with the columns of gormplugin's example: id, plan_id, parent_id,
// name, path and deleted_at.
func DefaultTable(name string) Table {
	return Table{Table: name, Key: "id", Tree: "plan_id", Parent: "parent_id", Name: "name", Path: "path", Deleted: "deleted_at"}
}

// ErrTable is matched by the error for a [Table] that is incomplete or contradictory, or that names
// a table or a column that the database does not have, and for a table with a row in no tree, or
// with a path of ids and a key that none can have.
var ErrTable = errors.New("fsck: table")

// ErrNoColumn is matched, besides [ErrTable], if the table exists and lacks a column.
var ErrNoColumn = errors.New("no such column")

// described is a column and its purpose.
type described struct{ what, name string }

// described returns the columns, with empty names for those that are not set.
func (t Table) described() []described {
	return []described{
		{"key column", t.Key}, {"tree column", t.Tree}, {"parent column", t.Parent}, {"name column", t.Name},
		{"path column", t.Path}, {"id path column", t.IDPath}, {"column of the deletion mark", t.Deleted},
		{"version column", t.Version},
	}
}

// validate checks the description, without the database, and sets the default namespace.
func (t *Table) validate() error {
	for _, column := range append([]described{{"table name", t.Table}}, t.described()[:4]...) {
		optional := column.what == "tree column" && t.SingleTree != "" || column.what == "name column" && t.Path == ""
		switch {
		case column.name != "" || optional:
		case column.what == "tree column":
			return fmt.Errorf("%w: neither a tree column nor a single tree is given", ErrTable)
		default:
			return fmt.Errorf("%w: no %s is given", ErrTable, column.what)
		}
	}
	if t.Tree != "" && t.SingleTree != "" {
		return fmt.Errorf("%w: both a tree column and a single tree are given", ErrTable)
	}
	named := make(map[string]string)
	for _, column := range t.described() {
		if other := named[column.name]; column.name != "" && other != "" {
			return fmt.Errorf("%w: the %s and the %s are both %q", ErrTable, other, column.what, column.name)
		}
		named[column.name] = column.what
	}
	if t.Path == "" && t.IDPath == "" {
		return fmt.Errorf("%w: neither a path nor an id path column is given", ErrTable)
	}
	for _, path := range []struct{ column, form string }{{t.Path, t.PathForm}, {t.IDPath, t.IDPathForm}} {
		if _, err := treetable.ParseForm(path.form); err != nil {
			return fmt.Errorf("%w: %w", ErrTable, err)
		}
		if path.column == "" && path.form != "" {
			return fmt.Errorf("%w: the form %q is that of no column", ErrTable, path.form)
		}
	}
	if t.DeletedWhen != "" && t.Deleted == "" {
		return fmt.Errorf("%w: %q marks rows as deleted in no column", ErrTable, t.DeletedWhen)
	}
	if t.Namespace == "" {
		t.Namespace = t.Table
	}
	return t.validateLeaves()
}

// validateLeaves checks the descriptions of the leaves.
func (t *Table) validateLeaves() error {
	t.Leaves = slices.Clone(t.Leaves)
	for i := range t.Leaves {
		leaf := &t.Leaves[i]
		leaf.Tree, leaf.SingleTree = "", t.Table
		if err := leaf.validate(); err != nil {
			return fmt.Errorf("the leaves %q: %w", leaf.Table, err)
		}
		if leaf.Path != "" && t.Path == "" || leaf.IDPath != "" && t.IDPath == "" {
			return fmt.Errorf("%w: the leaves %q have a path of a kind that %q has not", ErrTable, leaf.Table, t.Table)
		}
	}
	return nil
}
