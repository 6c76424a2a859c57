// Package treetable says what a table of trees is: which columns it has, how they spell paths, and
// which values mean that a row has no parent. The GORM plugin, fsck, doctor and the command line
// share its [Table].
//
// Programs keep "/a/b", "/0/1/7/", "1,7," or "a.b.c"; package pathlock, and all that plans, knows
// only "/a/b", the path of [pathlock.Path.Column]. A [Form] turns the one into the other, when a
// column is read and when it is written. In every form, what is stored of a row, up to the next
// separator, is the beginning of what is stored of the rows below. So a subtree is a range of the
// column's index, and a move replaces one beginning with another.
//
// A row has no parent if its parent column is NULL, or holds whatever the zero value of a parent
// field becomes in the database: 0, the empty text, the nil UUID as text or as its own type, or
// bytes that are all zero. Package dialect has the same as conditions of SQL.
package treetable

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Table says which columns make a table one of trees, or of leaves below them. An empty name stands
// for a column that the table does not have.
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
	// UUID, in a row at the top, or what ParentTop says, such as "-1".
	Parent, ParentTop string
	// Name is the column of the row's name among its siblings. It is "" in a root row. A table with
	// only a path of ids may have none: then ids replace names.
	Name string
	// Path is the column of the materialised path: "/a/b", and "" for a root row. It may be "" if
	// IDPath is not.
	Path string
	// IDPath is the column of the path of keys from the top, the row's own included: "/1/17/203".
	// It replaces Path, or stands beside it.
	IDPath string
	// PathForm and IDPathForm are how these columns spell paths, as the path of two names:
	// "/0/*/*/" for "/0/1/17/203/". "" means "/*/*".
	PathForm, IDPathForm string
	// Depth is the column of a whole number that says how deep the row lies: how many names, or
	// ids, its path has, if DepthTop is not given. DepthTop is the depth of a row whose path has
	// one: "0", "2". A root row without a name lies one less deep.
	Depth, DepthTop string
	// Deleted is a column that marks rows as deleted. A row is live if the column is NULL, 0,
	// false, "" or "0". Any time marks the row as deleted.
	Deleted string
	// DeletedWhen is the only value by which Deleted marks rows as deleted: "archived", "2". ""
	// means any value but those above.
	DeletedWhen string
	// Version is the column of a whole number that grows whenever the row's path, parent or name
	// changes.
	Version string
	// Fence is the column of a whole number that gets the fence of the lock under which the row's
	// place in the tree was last written. A write without one leaves it as it is, and a new row has
	// 0.
	Fence string
	// Leaves are other tables whose rows hang below rows of this one, and have paths: of their
	// parent, or of their own. They are in the trees of this table.
	Leaves []Table
	// Namespace is the first argument of pathlock.NewTree for the trees' locks. The second one is
	// the value of the tree column, or SingleTree. "" means the table's name.
	Namespace string
}

// Role is what a column is to the tree.
type Role struct {
	// What says it in messages, Tag in the tag of a model's field, and Flag on the command line.
	What, Tag, Flag string
	// Column is the name of the column of a table that has the role.
	Column func(*Table) *string
	// Option is what a tag may say besides, up to its value, as in "form:", and Value is that value
	// of a table. They are "" and nil where there is nothing to say.
	Option string
	Value  func(*Table) *string
}

// Roles are those that a column can have.
var Roles = []Role{
	{What: "key column", Flag: "key", Column: func(t *Table) *string { return &t.Key }},
	{What: "tree column", Tag: "tree", Flag: "tree-column", Column: func(t *Table) *string { return &t.Tree }},
	{"parent column", "parent", "parent", func(t *Table) *string { return &t.Parent }, "top:", func(t *Table) *string { return &t.ParentTop }},
	{What: "name column", Tag: "name", Flag: "name", Column: func(t *Table) *string { return &t.Name }},
	{"path column", "path", "path", func(t *Table) *string { return &t.Path }, "form:", func(t *Table) *string { return &t.PathForm }},
	{"id path column", "idpath", "id-path", func(t *Table) *string { return &t.IDPath }, "form:", func(t *Table) *string { return &t.IDPathForm }},
	{"depth column", "depth", "depth", func(t *Table) *string { return &t.Depth }, "top:", func(t *Table) *string { return &t.DepthTop }},
	{"column of the deletion mark", "deleted", "deleted", func(t *Table) *string { return &t.Deleted }, "when:", func(t *Table) *string { return &t.DeletedWhen }},
	{What: "version column", Tag: "version", Flag: "version-column", Column: func(t *Table) *string { return &t.Version }},
	{What: "fence column", Tag: "fence", Column: func(t *Table) *string { return &t.Fence }},
}

// Has reports whether a column has a role in the table.
func (t *Table) Has(column string) bool {
	return slices.ContainsFunc(Roles, func(r Role) bool { return *r.Column(t) == column })
}

// Flags yields the flags by which the command line describes the columns, each with its value.
func (t *Table) Flags(yield func(flag string, value *string) bool) {
	for _, r := range Roles {
		if r.Flag == "" {
			continue
		}
		if !yield(r.Flag, r.Column(t)) || r.Value != nil && !yield(r.Flag+"-"+strings.TrimSuffix(r.Option, ":"), r.Value(t)) {
			return
		}
	}
}

// Check returns an error if the description is incomplete or contradictory.
func (t *Table) Check() error { return t.check(false) }

func (t *Table) check(leaf bool) error {
	if t.Table == "" {
		return errors.New("no table name is given")
	}
	if t.Key == "" {
		return errors.New("no key column is given")
	}
	if err := t.CheckColumns(leaf); err != nil {
		return err
	}
	if t.DeletedWhen != "" && t.Deleted == "" {
		return fmt.Errorf("%q marks rows as deleted, but no column is given for it", t.DeletedWhen)
	}
	for i := range t.Leaves {
		below := &t.Leaves[i]
		if err := below.check(true); err != nil {
			return fmt.Errorf("the leaves %q: %w", below.Table, err)
		}
		if below.Path == "" && below.IDPath == "" {
			return fmt.Errorf("the leaves %q have no path", below.Table)
		}
		if below.Depth != "" && t.Depth == "" {
			return fmt.Errorf("the leaves %q have a depth, and %q has none", below.Table, t.Table)
		}
		if below.Path != "" && t.Path == "" || below.IDPath != "" && t.IDPath == "" {
			return fmt.Errorf("the leaves %q have a path of a kind that %q does not have", below.Table, t.Table)
		}
	}
	return nil
}

// CheckColumns checks that the table has the columns that it needs, each for one purpose, in forms
// that can be. The key and the marks of deletion are none of them.
func (t *Table) CheckColumns(leaf bool) error {
	if err := t.checkRoles(leaf); err != nil {
		return err
	}
	for _, path := range []struct{ column, form string }{{t.Path, t.PathForm}, {t.IDPath, t.IDPathForm}} {
		if _, err := ParseForm(path.form); err != nil {
			return err
		}
		if path.column == "" && path.form != "" {
			return fmt.Errorf("the form %q belongs to no column", path.form)
		}
	}
	if _, err := strconv.ParseUint(cmp.Or(t.DepthTop, "1"), 10, 8); err != nil || t.DepthTop != "" && (t.Depth == "" || leaf) {
		return fmt.Errorf("%q cannot be the depth of a row at the top: it must be a number from 0 to 255, for a table that has a depth and does not hold leaves", t.DepthTop)
	}
	return nil
}

// DepthOf returns the depth column's value for a row whose path has a number of names.
func (t *Table) DepthOf(names int) int {
	top, _ := strconv.Atoi(cmp.Or(t.DepthTop, "1"))
	return names - 1 + top
}

// checkRoles checks which columns there are.
func (t *Table) checkRoles(leaf bool) error {
	switch {
	case t.Tree == "" && t.SingleTree == "" && !leaf:
		return errors.New("neither a tree column nor a single tree is given")
	case t.Tree+t.SingleTree != "" && leaf:
		return errors.New("a leaf is in the tree of its parent, and has no column for it")
	case t.Tree != "" && t.SingleTree != "":
		return errors.New("both a tree column and a single tree are given")
	case t.Parent == "":
		return errors.New("no parent column is given")
	case t.ParentTop != "" && leaf:
		return errors.New("a leaf is never at the top")
	case t.Name == "" && t.Path != "":
		return errors.New("no name column is given")
	case t.Path == "" && t.IDPath == "" && !leaf:
		return errors.New("neither a path nor an id path column is given")
	}
	for i, role := range Roles {
		name := *role.Column(t)
		other := slices.IndexFunc(Roles[:i], func(r Role) bool { return *r.Column(t) == name })
		if name != "" && other >= 0 {
			return fmt.Errorf("the %s and the %s are both %q", Roles[other].What, role.What, name)
		}
	}
	return nil
}
