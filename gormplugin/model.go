package gormplugin

import (
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Columns names the columns of a model by field or by column name, instead of by tags. An empty one
// is looked for among the tags.
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
	// replaces Path, or stands beside it; one of the two is required.
	IDPath string
	// PathForm and IDPathForm are how the columns spell these paths: "" for what the tag says, or
	// else "/*/*". See [Model].
	PathForm, IDPathForm string
	// Version, optional, is a whole number that grows whenever the row's path, parent or name
	// changes.
	Version string
	// Fence, optional, is a whole number that gets the fence of the lock under which
	// the row's place in the tree was last written. A write without one, by [pathlock.Degrade],
	// leaves it as it is, and a new row has 0.
	Fence string
	// Deleted, optional, is a plain column that marks rows as deleted. A row is live while it is
	// NULL, 0, false or "" or, where DeletedWhen is given, any value but that one: "archived", "2".
	Deleted, DeletedWhen string
}

// apply implements [ModelOption].
func (c Columns) apply(m *table.Spec) { m.Columns = table.Columns(c) }

// ModelOption says more about a [Model].
type ModelOption interface{ apply(*table.Spec) }

// modelOption is a [ModelOption] that is not [Columns].
type modelOption func(*table.Spec)

// apply implements [ModelOption].
func (o modelOption) apply(m *table.Spec) { o(m) }

// Namespace sets the first argument of [pathlock.NewTree] for the model's trees. The second one is
// the value of the tree column, in hexadecimal if it is binary. The default is the table's name.
func Namespace(namespace string) ModelOption {
	return modelOption(func(m *table.Spec) { m.Namespace = namespace })
}

// SingleTree says that all rows of a [Model] are in one tree, with the given id, and that the table
// has no column for it: "departments".
func SingleTree(id string) ModelOption {
	return modelOption(func(m *table.Spec) { m.SingleTree = id })
}

// Model registers a tree: a model whose rows carry their materialised path. Its columns are marked
// by tags (tree, parent, name, and path or idpath or both; optionally version and fence) or named
// by [Columns].
//
// A column may spell paths in another form, which the tag states as a path of two names:
//
//	Path string `pathlock:"idpath,form:/0/*/*/"` // "/0/1/7/" for "/1/7"
//
// What separates names is one of / . , : ; | > ~ -, and no name may contain it. It may follow the
// last name, too. What stands before the first name, if anything, ends in it, and is what the
// column of a root row holds. With "parent:" before the form, the column holds the path of the
// row's parent; [Copy] refuses such rows. All but the columns and their fields (locks, errors,
// [pathlock.Location], [At], leaves) has paths as "/a/b".
//
// A type such as gorm.DeletedAt marks rows as deleted by itself. A plain column does so by the tag
// "deleted": a row is live while it is NULL, 0, false, "" or "0" or, with a value in the tag, any
// other:
//
//	Status string `pathlock:"deleted,when:archived"`
//
// An update that marks a row as deleted deletes it: all that lies below it gets the same mark. One
// that takes the mark away restores the row, and nothing below it. A plain mark hides nothing:
// Delete removes rows for good, and the conditions of other statements hold of deleted rows, too,
// but for those of this package's functions.
//
// A row without a parent is either at the top, with the path "/name", or, with an empty name and
// the path "", the root row of its tree. In a path of ids every row has its own id, the root row
// too.
func Model(model any, opts ...ModelOption) Option { return addModel(table.Spec{Model: model}, opts) }

// Leaf registers a model whose rows hang below the rows of another registered model, such as the
// cases of suites. Its "parent" column is the other's primary key, its "name" column the name below
// it. It is in the tree of its parent, and has no column for that.
//
// A leaf may have path columns, with the tags or [Columns] of a [Model]:
//
//	Folder string `pathlock:"path,form:parent:/*/*"` // the path of the row above
//
// They are set and checked as those of a model are, and rewritten in one statement when a row above
// moves or is renamed. The model above needs a path of the same kind, names or ids, and in the same
// form, except that one may be of the parent. A path of names cannot be unique by itself.
//
// A leaf may have a field that is no column, `pathlock:"path" gorm:"-"`. Whatever gives the leaf
// its place writes the leaf's path there: Create, [Rename], [Move], [Copy], and an update of a
// struct that moves it. A query does not change the field.
func Leaf(model, parent any, opts ...ModelOption) Option {
	return addModel(table.Spec{Model: model, Parent: parent}, opts)
}

// addModel applies the options of a model, and adds it to those of the plugin.
func addModel(s table.Spec, opts []ModelOption) Option {
	for _, opt := range opts {
		opt.apply(&s)
	}
	return func(p *Plugin) { p.specs = append(p.specs, s) }
}

// MaxDepth bounds how many names, or ids, the path of a row of the model has, from 1 to
// [pathlock.MaxDepth], which is the default. A write that would put a row deeper, or any row below
// it, fails with a [*TooDeepError]. A row that lies deeper already can be renamed, and moved to
// where it does not lie deeper still.
//
// It is an option of a [Model]. A leaf may hang below the deepest row.
func MaxDepth(names int) ModelOption {
	return modelOption(func(m *table.Spec) { m.MaxDepth = &names })
}

// Description is a registered model as the database knows it, for programs that read its table
// without GORM.
type Description struct {
	// Table is the table's name, and Key its primary key.
	Table, Key string
	// Namespace is the first argument of [pathlock.NewTree] for the model's trees. SingleTree is
	// the second one where the table has no tree column, "" for others.
	Namespace, SingleTree string
	// Columns are the other columns, by the database's names. Tree of a leaf is empty.
	Columns Columns
	// Leaves are the leaf models that hang below the model and have paths.
	Leaves []Description
	// Marks are the columns that mark a row as deleted; none if rows are deleted for good.
	Marks []Mark
}

// Mark is a column that marks a row as deleted.
type Mark struct {
	Column string
	// Live is the column's value in a row that is not deleted, as SQL: NULL, or a literal such as
	// 0.
	Live string
	// When, if it is not "", is the value in a deleted row instead: any other one is live.
	When string
}

// Describe says which columns of which table a model's fields are. The model has to be registered
// with the plugin that db uses.
func Describe(db *gorm.DB, model any) (Description, error) {
	_, t, err := subject(db, model)
	if err != nil {
		return Description{}, err
	}
	d := describe(t)
	for _, leaf := range t.Leaves {
		d.Leaves = append(d.Leaves, describe(leaf))
	}
	return d, nil
}

// describe describes one table.
func describe(t *table.Table) Description {
	column := func(f *schema.Field) string {
		if f == nil {
			return ""
		}
		return f.DBName
	}
	d := Description{Table: t.TableName, Key: t.Key.DBName, Namespace: t.Above.Namespace, SingleTree: t.SingleTree(), Columns: Columns{
		Tree: column(t.Tree), Parent: column(t.Parent), Name: column(t.Name), Version: column(t.Version), Fence: column(t.Fence),
	}}
	pattern := func(form treetable.Form) string {
		if form == treetable.DefaultForm {
			return ""
		}
		return form.String()
	}
	layout := t.Layout()
	for _, path := range layout.Paths {
		switch {
		case path.OfIDs && t.ByIDs:
			d.Columns.IDPath, d.Columns.IDPathForm = path.Column, pattern(t.PathForm)
		case path.OfIDs:
			d.Columns.IDPath, d.Columns.IDPathForm = path.Column, pattern(t.IDsForm)
		default:
			d.Columns.Path, d.Columns.PathForm = path.Column, pattern(t.PathForm)
		}
	}
	for _, mark := range layout.Marks {
		d.Marks = append(d.Marks, Mark{Column: mark.Column, Live: mark.Live, When: strings.Trim(mark.When, "'")})
	}
	return d
}
