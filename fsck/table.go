package fsck

import (
	"errors"
	"fmt"
)

// Table describes a table that holds trees. All columns are named as the database names them.
type Table struct {
	// Table is the table's name: "suites" or "schema.suites".
	Table string
	// Key is the primary key, of one column.
	Key string
	// Tree is the id of the tree that a row is in, such as the plan's.
	Tree string
	// Parent is the parent's primary key; NULL, or a zero value such as 0 or the nil UUID, for a
	// row at the top.
	Parent string
	// Name is the row's name among its siblings; "" for a root row.
	Name string
	// Path is the materialised path. It may be empty if IDPath is not.
	Path string
	// IDPath, optional, is the path of ids: "/1/17/203".
	IDPath string
	// Deleted, optional, marks a row as deleted by being neither NULL nor a zero value: 0, false or
	// the empty text. A time marks it whatever it says.
	Deleted string
	// DeletedFlag is another name for Deleted.
	DeletedFlag string
	// Version, optional, is a whole number that a repair counts up whenever it changes the row.
	Version string
	// Namespace is the first argument of [pathlock.NewTree] for the trees' locks; the second
	// is the value of the tree column. The default is the table's name, as in gormplugin.
	Namespace string
}

// DefaultTable is the table of that name with the columns that gormplugin's example has:
// id, plan_id, parent_id, name, path and deleted_at.
func DefaultTable(name string) Table {
	return Table{Table: name, Key: "id", Tree: "plan_id", Parent: "parent_id", Name: "name", Path: "path", Deleted: "deleted_at"}
}

// ErrTable is matched where the description of a table makes no sense, or the database has no such
// table or column.
var ErrTable = errors.New("fsck: table")

// ErrNoColumn is matched, beside [ErrTable], where the database has the table without a column that
// is described.
var ErrNoColumn = errors.New("no such column")

// described is a column and what it is for.
type described struct{ what, name string }

// described returns the columns, with empty names for those that there are not.
func (t Table) described() []described {
	return []described{
		{"key column", t.Key}, {"tree column", t.Tree}, {"parent column", t.Parent}, {"name column", t.Name},
		{"path column", t.Path}, {"id path column", t.IDPath}, {"column of the deletion mark", t.Deleted}, {"column of the deletion flag", t.DeletedFlag},
		{"version column", t.Version},
	}
}

// validate checks the description by itself.
func (t *Table) validate() error {
	for _, column := range append([]described{{"table name", t.Table}}, t.described()[:4]...) {
		if column.name == "" {
			return fmt.Errorf("%w: no %s is given", ErrTable, column.what)
		}
	}
	switch {
	case t.Path == "" && t.IDPath == "":
		return fmt.Errorf("%w: neither a path nor an id path column is given", ErrTable)
	case t.Deleted != "" && t.DeletedFlag != "":
		return fmt.Errorf("%w: a row is marked as deleted by one column, and two are given", ErrTable)
	}
	if t.Namespace == "" {
		t.Namespace = t.Table
	}
	return nil
}
