package gormplugin

import (
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
)

// Columns names the columns of a model by field or by column name, instead of the tags. An
// empty one is looked for among the tags.
type Columns struct {
	// Tree is the id of the tree that the row is in, such as the plan's.
	Tree string
	// Parent is the parent's primary key; NULL for a row at the top.
	Parent string
	// Name is the row's name among its siblings; "" for a root row.
	Name string
	// Path is the materialised path: "/a/b", and "" for a root row.
	Path string
	// IDPath is the path of primary keys from the top, the row's own included: "/1/17/203". It
	// takes the place of Path, or stands beside it; one of the two is required.
	IDPath string
	// Version, optional, is a whole number that grows whenever the row's path, parent or name
	// changes.
	Version string
	// Fence, optional, is a whole number that gets the fence of the lock under which
	// the row's place in the tree was last written.
	Fence string
}

// apply implements [ModelOption].
func (c Columns) apply(m *table.Spec) { m.Columns = table.Columns(c) }

// ModelOption says more about a [Model].
type ModelOption interface{ apply(*table.Spec) }

// namespaceOption is the type behind [Namespace].
type namespaceOption string

// apply implements [ModelOption].
func (n namespaceOption) apply(m *table.Spec) { m.Namespace = string(n) }

// Namespace sets the first argument of [pathlock.NewTree] for the model's trees; the second is the
// value of the tree column, in hexadecimal if it is binary. The default is the table's name.
func Namespace(namespace string) ModelOption { return namespaceOption(namespace) }

// Model registers a tree: a model whose rows carry their materialised path. Its columns are marked
// by tags (tree, parent, name, and path or idpath or both; optionally version and fence) or named
// by [Columns].
//
// A row without a parent is either at the top, with the path "/name", or, with an empty name and
// the path "", the root row of its tree. In a path of ids every row has its own id, the root row
// too.
func Model(model any, opts ...ModelOption) Option {
	s := table.Spec{Model: model}
	for _, opt := range opts {
		opt.apply(&s)
	}
	return func(p *Plugin) { p.specs = append(p.specs, s) }
}

// Leaf registers a model whose rows hang below the rows of another registered
// one and have no path column of their own, such as the cases of suites: its
// "parent" column is the other's primary key, its "name" column the name below it.
//
// A field that is no column, `pathlock:"path" gorm:"-"`, is told where the leaf is by what gives
// the leaf its place: Create, [Rename], [Move], [Copy], and an update of a struct that moves it.
// A query leaves the field alone.
func Leaf(model, parent any, opts ...ModelOption) Option {
	s := table.Spec{Model: model, Parent: parent}
	for _, opt := range opts {
		opt.apply(&s)
	}
	return func(p *Plugin) { p.specs = append(p.specs, s) }
}
