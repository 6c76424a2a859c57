package gormplugin

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// tagName is the struct tag that marks the tree's columns.
const tagName = "pathlock"

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
func (c Columns) apply(m *modelSpec) { m.columns = c }

// ModelOption says more about a [Model].
type ModelOption interface{ apply(*modelSpec) }

// namespaceOption is the type behind [Namespace].
type namespaceOption string

// apply implements [ModelOption].
func (n namespaceOption) apply(m *modelSpec) { m.namespace = string(n) }

// Namespace sets the first argument of [pathlock.NewTree] for the model's trees; the second is the
// value of the tree column, in hexadecimal if it is binary. The default is the table's name.
func Namespace(namespace string) ModelOption { return namespaceOption(namespace) }

// modelSpec is a model as it was registered.
type modelSpec struct {
	model     any
	parent    any // of a leaf; nil for a model with a path of its own
	columns   Columns
	namespace string
	// maxDepth is what [MaxDepth] says, nil if it was not given.
	maxDepth *int
}

// Model registers a tree: a model whose rows carry their materialised path. Its columns are marked
// by tags (tree, parent, name, and path or idpath or both; optionally version and fence) or named
// by [Columns].
//
// A row without a parent is either at the top, with the path "/name", or, with an empty name and
// the path "", the root row of its tree. In a path of ids every row has its own id, the root row
// too.
func Model(model any, opts ...ModelOption) Option {
	spec := modelSpec{model: model}
	for _, opt := range opts {
		opt.apply(&spec)
	}
	return func(p *Plugin) { p.specs = append(p.specs, spec) }
}

// Leaf registers a model whose rows hang below the rows of another registered
// one and have no path column of their own, such as the cases of suites: its
// "parent" column is the other's primary key, its "name" column the name below it.
//
// A field that is no column, `pathlock:"path" gorm:"-"`, is told where the leaf is by what gives
// the leaf its place: Create, [Rename], [Move], [Copy], and an update of a struct that moves it.
// A query leaves the field alone.
func Leaf(model, parent any, opts ...ModelOption) Option {
	spec := modelSpec{model: model, parent: parent}
	for _, opt := range opts {
		opt.apply(&spec)
	}
	return func(p *Plugin) { p.specs = append(p.specs, spec) }
}

// table is a guarded table.
type table struct {
	name      string
	namespace string
	dialect   *dialect.Dialect
	schema    *schema.Schema
	key       *schema.Field
	parent    *schema.Field
	label     *schema.Field // the name
	tree      *schema.Field // nil for a leaf
	// path is the column that says where a row is, and that locks go by: the path of names or,
	// where there is none, that of ids; nil for a leaf.
	path *schema.Field
	// byIDs is set where path is the path of ids, and ids is the column of one that stands beside a
	// path of names.
	byIDs   bool
	ids     *schema.Field
	version *schema.Field // optional
	fence   *schema.Field // optional
	// told is the field of a leaf, no column, that is told its path; optional.
	told *schema.Field
	// maxDepth is how many names the path of a row has at most.
	maxDepth int
	// deletion holds the columns that mark a row as deleted, if rows are deleted softly.
	deletion []*schema.Field
	// zeroKeys are the values, in plain form, of keys that no row has.
	zeroKeys []any
	// above is the table that the parents are in: the table itself, or a leaf's other one.
	above *table

	// index is what is known of the index over tree and path.
	index pathIndex

	// recall is the key of what a request has read of its trees, and believed is set where a write
	// may be planned on that.
	recall   recallKey
	believed bool
	// ancestry is what was last seen above its rows.
	ancestry ancestry
	// columns are those that say where a row is, and list is how a SELECT names them.
	columns []*schema.Field
	list    clause.Expression
	// alive is the condition that a row is not deleted softly.
	alive clause.Expression
	// clausesOfDelete are what the types of other columns than the marks of deletion add to a
	// DELETE.
	clausesOfDelete []clause.Interface
}

// isLeaf reports whether the rows have no path column of their own.
func (t *table) isLeaf() bool { return t.above != t }

// treeOf returns the lock domain of a tree column's value.
func (t *table) treeOf(value any) (pathlock.Tree, error) {
	if value == nil {
		return pathlock.Tree{}, fmt.Errorf("%w: %s: the column %q is empty", pathlock.ErrInvalidTree, t.name, t.tree.DBName)
	}
	if binary, ok := value.(bytes); ok {
		return pathlock.NewTree(t.above.namespace, fmt.Sprintf("%x", string(binary)))
	}
	return pathlock.NewTree(t.above.namespace, fmt.Sprint(value))
}

// inspect finds the columns of a registered model.
func inspect(db *gorm.DB, spec modelSpec) (*table, error) {
	parsed, err := parseModel(db, spec.model)
	if err != nil {
		return nil, err
	}
	t := &table{name: parsed.Table, namespace: spec.namespace, schema: parsed, key: parsed.PrioritizedPrimaryField}
	if t.namespace == "" {
		t.namespace = t.name
	}
	if _, err := pathlock.NewTree(t.namespace, "0"); err != nil {
		return nil, fmt.Errorf("gormplugin: %s: %w", parsed.Name, err)
	}
	if t.key == nil || len(parsed.PrimaryFields) != 1 {
		return nil, fmt.Errorf("gormplugin: %s: the model needs a primary key of exactly one column, which the parent column refers to: of a key over the tree and an id, make the id the primary key and the two a unique index", parsed.Name)
	}
	if t.maxDepth, err = spec.depthLimit(); err != nil {
		return nil, err
	}
	if spec.parent != nil {
		if t.told, err = findTold(parsed, spec.columns.Path); err != nil {
			return nil, err
		}
		if t.told != nil {
			spec.columns.Path = ""
		}
	}
	for _, column := range []struct {
		tag, named string
		field      **schema.Field
		required   bool
	}{
		{"tree", spec.columns.Tree, &t.tree, spec.parent == nil},
		{"parent", spec.columns.Parent, &t.parent, true},
		{"name", spec.columns.Name, &t.label, true},
		{"path", spec.columns.Path, &t.path, false},
		{"idpath", spec.columns.IDPath, &t.ids, false},
		{"version", spec.columns.Version, &t.version, false},
		{"fence", spec.columns.Fence, &t.fence, false},
	} {
		field, err := findColumn(parsed, column.tag, column.named)
		if err != nil {
			return nil, err
		}
		if field == nil && column.required {
			return nil, fmt.Errorf("gormplugin: %s: no field has the tag `%s:%q`", parsed.Name, tagName, column.tag)
		}
		*column.field = field
	}
	if spec.parent == nil && t.path == nil {
		if t.ids == nil {
			return nil, fmt.Errorf("gormplugin: %s: no field has the tag `%s:%q`, or %q for a path of ids", parsed.Name, tagName, "path", "idpath")
		}
		t.path, t.ids, t.byIDs = t.ids, nil, true
	}
	if spec.parent != nil && (t.tree != nil || t.path != nil || t.ids != nil) {
		return nil, fmt.Errorf("gormplugin: %s: a leaf has neither a tree nor a path column: both follow from its parent (a field that is told its path has the tag `gorm:\"-\"`)", parsed.Name)
	}
	for _, f := range parsed.Fields {
		if marksDeletion(db, parsed, f) {
			t.deletion = append(t.deletion, f)
		}
	}
	for _, f := range parsed.Fields {
		adds, ok := reflect.New(f.IndirectFieldType).Interface().(schema.DeleteClausesInterface)
		if ok && f.DBName != "" && !slices.Contains(t.deletion, f) {
			t.clausesOfDelete = append(t.clausesOfDelete, adds.DeleteClauses(f)...)
		}
	}
	t.above = t
	t.list = t.selectList()
	t.alive = t.liveCondition(db)
	return t, t.checkColumns()
}

// selectList fills columns, and returns the columns as a SELECT lists them.
func (t *table) selectList() clause.Expression {
	for _, f := range []*schema.Field{t.key, t.parent, t.label, t.tree, t.path, t.ids, t.version, t.fence} {
		if f != nil {
			t.columns = append(t.columns, f)
		}
	}
	vars := make([]any, len(t.columns))
	for i, f := range t.columns {
		vars[i] = column(f)
	}
	return clause.Expr{SQL: strings.Repeat(", ?", len(vars))[2:], Vars: vars}
}

// liveCondition returns the condition by which GORM's queries leave out softly deleted rows.
func (t *table) liveCondition(db *gorm.DB) clause.Expression {
	stmt := db.Session(&gorm.Session{NewDB: true}).Model(t.fresh()).Statement
	for _, f := range t.deletion {
		mark, _ := reflect.New(f.IndirectFieldType).Interface().(schema.QueryClausesInterface)
		for _, c := range mark.QueryClauses(f) {
			stmt.AddClause(c)
		}
	}
	where, _ := stmt.Clauses["WHERE"].Expression.(clause.Where)
	if len(where.Exprs) == 0 {
		return clause.Expr{SQL: "1 = 1"}
	}
	return clause.And(where.Exprs...)
}

// checkColumns refuses models whose settings would keep the plugin from writing what it has to, or
// change what it writes.
func (t *table) checkColumns() error {
	for _, f := range append(t.placeColumns(), t.version) {
		switch {
		case f == nil:
		case f.Serializer != nil:
			return fmt.Errorf("gormplugin: %s: %s cannot have a serializer", t.schema.Name, f.Name)
		case !f.Creatable, !f.Updatable && f != t.tree && f != t.label && f != t.parent, !f.Readable:
			return fmt.Errorf("gormplugin: %s: %s has to be readable and writable: its tag `gorm:\"%s\"` forbids it", t.schema.Name, f.Name, f.Tag.Get("gorm"))
		}
	}
	if t.path != nil && t.path.HasDefaultValue && strings.Trim(t.path.DefaultValue, `'"`) != "" {
		return fmt.Errorf("gormplugin: %s: %s cannot have the default %s: the path of a root row is empty", t.schema.Name, t.path.Name, t.path.DefaultValue)
	}
	return nil
}

// findColumn returns the field that is named, or else tagged; nil if there is none.
func findColumn(parsed *schema.Schema, tag, named string) (*schema.Field, error) {
	if named != "" {
		if f := parsed.LookUpField(named); f != nil && f.DBName != "" {
			return f, nil
		}
		return nil, fmt.Errorf("gormplugin: %s has no column %q, which was named as its %s", parsed.Name, named, tag)
	}
	var found *schema.Field
	for _, f := range parsed.Fields {
		if f.Tag.Get(tagName) != tag || f.DBName == "" {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("gormplugin: %s: two fields, %s and %s, have the tag `%s:%q`", parsed.Name, found.Name, f.Name, tagName, tag)
		}
		found = f
	}
	return found, nil
}

// parseModel returns the schema that GORM sees in a model.
func parseModel(db *gorm.DB, model any) (*schema.Schema, error) {
	stmt := &gorm.Statement{DB: db}
	if err := stmt.Parse(model); err != nil {
		return nil, fmt.Errorf("gormplugin: %T is not a model: %w", model, err)
	}
	return stmt.Schema, nil
}

// row names a row in messages.
func (t *table) row(id any) string { return t.name + " " + shown.ID(id) }

// unsupported says why a write is refused and what to use.
func (t *table) unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", fault.ErrUnsupported, t.name, fmt.Sprintf(format, args...))
}
