package gormplugin

import (
	"cmp"
	"errors"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Columns names the columns of a model by field or by column name, instead of by tags:
//
//	gormplugin.Model(&Menu{}, gormplugin.Columns{Parent: "parent_id", IDPath: "ids", IDPathForm: "/0/*/*/"})
//
// Its fields are texts: Tree, Parent, Name, Path, IDPath, Depth, Deleted, Version and Fence, as the
// tags; PathForm and IDPathForm as the tags' "form:", ParentTop and DepthTop as "top:", DeletedWhen
// as "when:". For an empty field, the tags count. The table, its key and its leaves come from the
// models, SingleTree and Namespace from the options of these names.
type Columns treetable.Table

// Table is a registered model as the database knows it: see [Describe].
type Table = treetable.Table

// ModelOption says more about a [Model].
type ModelOption interface{ apply(*table.Spec) }

// apply implements [ModelOption].
func (c Columns) apply(m *table.Spec) {
	named := treetable.Table(c)
	named.Namespace, named.SingleTree = cmp.Or(c.Namespace, m.Table.Namespace), cmp.Or(c.SingleTree, m.Table.SingleTree)
	m.Table = named
}

// modelOption is a [ModelOption] that is not [Columns].
type modelOption func(*table.Spec)

// apply implements [ModelOption].
func (o modelOption) apply(m *table.Spec) { o(m) }

// Namespace sets the first argument of [pathlock.NewTree] for the model's trees. The second one is
// the value of the tree column, in hexadecimal if it is binary. The default is the table's name.
func Namespace(namespace string) ModelOption {
	return modelOption(func(m *table.Spec) { m.Table.Namespace = namespace })
}

// SingleTree says that all rows of a [Model] are in one tree, with the given id, and that the table
// has no column for it: "departments".
func SingleTree(id string) ModelOption {
	return modelOption(func(m *table.Spec) { m.Table.SingleTree = id })
}

// Model registers a tree: a model whose rows carry their materialised path. Its columns are marked
// by tags (tree, parent, name, and path or idpath or both; optionally depth, version and fence) or
// named by [Columns].
//
// A tree of several columns, such as a user and a storage, needs one column that is made of them: a
// BeforeCreate hook fills it, and a CHECK keeps it right. If the parts are texts, see that no two
// trees get one id: "a/b" and "c" are not "a" and "b/c".
//
// A column may spell paths in another form, which the tag states as a path of two names:
//
//	Path string `pathlock:"idpath,form:/0/*/*/"` // "/0/1/7/" for "/1/7"
//
// The separator of names is one of / . , : ; | > ~ -, and no name may contain it. It may also
// follow the last name. A text before the first name must end in the separator, and is what the
// column of a root row holds. With "parent:" before the form, the column holds the path of the
// row's parent. Only the columns and their fields have that form: locks, errors,
// [pathlock.Location], [At] and leaves have paths as "/a/b".
//
// A new row that states no parent goes where its path of names says: below the live row with the
// path that the column holds, or above the last name, in the tree that the row states. It gets the
// parent's key and, where it states none, the name. An update goes by a path in the same way if the
// column holds the path of the parent, where "" is the top:
//
//	db.Create(&File{UserID: 7, Folder: "a/b/", Name: "c"})            // path,form:parent:*/*/
//	db.Model(&File{ID: 9}).Update("folder", "x/y/")
//
// The separator may stand at either end of the text or not, as in [Plugin.ResolverBy], unless the
// form has a text before the first name. If no live row has the path, the error matches
// [pathlock.ErrNotFound]. If a statement states the parent as well, the parent decides. But if
// the column holds the parent's path, and a Create states another one, the error matches
// [pathlock.ErrPathChanged].
//
// A depth is a whole number: how many names the path has. The tag may say which depth a row at the
// top has, if that is not 1; a root row has one less. Writes set the depth as they set paths. An
// update of the depth alone is refused, and one along with the rest of a row is not written:
//
//	Level int `pathlock:"depth,top:0"`
//
// A row at the top has NULL, or a zero value, as its parent, or what the tag says. A row that is
// its own parent is a cycle to fsck: give it NULL.
//
//	ParentID int64 `pathlock:"parent,top:-1"`
//
// A type such as gorm.DeletedAt marks rows as deleted by itself. A plain column does so with the
// tag "deleted": a row is live while the column is NULL, 0, false, "" or "0" or, if the tag states
// a value, has any other:
//
//	Status string `pathlock:"deleted,when:archived"`
//
// An update that marks a row as deleted deletes it: all rows below it get the same mark. An update
// that clears the mark restores the row, and nothing below it. A plain mark hides nothing: Delete
// removes rows for good, and statements other than this package's functions also find deleted rows.
//
// A row without a parent is either at the top, with the path "/name", or, with an empty name and
// the path "", the root row of its tree. In a path of ids every row has its own id, the root row
// too.
func Model(model any, opts ...ModelOption) Option { return addModel(table.Spec{Model: model}, opts) }

// Leaf registers a model whose rows hang below the rows of another registered model, such as the
// cases of suites. Its "parent" column is the other's primary key, its "name" column the name below
// it. It is in the tree of its parent, and has no column for that. A leaf without names takes any
// other column of texts that tells it from its siblings, such as a UUID.
//
// A leaf may have path columns, with the tags or [Columns] of a [Model]:
//
//	Folder string `pathlock:"path,form:parent:/*/*"` // the path of the row above
//
// The plugin sets and checks them like those of a model, and rewrites them in one statement when a
// row above moves or is renamed. The model above needs a path of the same kind, names or ids, and
// in the same form, except that one may be of the parent. A path of names cannot be unique by
// itself. Beside such a path, a leaf may have a depth, one more than that of the row above.
//
// A leaf may have a field that is no column, `pathlock:"path" gorm:"-"`. Every write that places
// the leaf sets the field to the leaf's path: Create, [Rename], [Move], [Copy], and an update of a
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

// MaxDepth bounds how many names, or ids, the path of a row of the model may have, from 1 to
// [pathlock.MaxDepth], which is the default. A write that would put a row deeper, or any row below
// it, fails with a [*TooDeepError]. A row that lies deeper already can be renamed, and moved, but
// not deeper.
//
// It is an option of a [Model]. A leaf may hang below the deepest row.
func MaxDepth(names int) ModelOption {
	return modelOption(func(m *table.Spec) { m.MaxDepth = &names })
}

// Describe says which columns of which table a model's fields are, by the database's names, with
// the leaves below it that have paths. It is for programs that read the table without GORM, such as
// package fsck. If several columns mark a row as deleted, it names the first: they change together.
// The model has to be registered with the plugin that db uses. The error matches [ErrUnsupported]
// for a mark whose value in live rows is none of NULL, 0, false and the empty text.
func Describe(db *gorm.DB, model any) (Table, error) {
	_, t, err := subject(db, model)
	if err != nil {
		return Table{}, err
	}
	described, err := t.Describe()
	for _, leaf := range t.Leaves {
		below, failed := leaf.Describe()
		described.Leaves, err = append(described.Leaves, below), errors.Join(err, failed)
	}
	if err != nil {
		return Table{}, err
	}
	return described, nil
}
