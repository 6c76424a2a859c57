package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// Spec is a model as it is registered.
type Spec struct {
	Model  any
	Parent any // of a leaf; nil for a model with a path of its own
	// Table names columns by field or by column name. An empty one is looked for among the tags.
	Table treetable.Table
	// MaxDepth is how many names a path has at most, nil if that was not given.
	MaxDepth *int
}

// depthLimit returns how deep the rows of a model may lie.
func (m Spec) depthLimit() (int, error) {
	switch {
	case m.MaxDepth == nil:
		return pathlock.MaxDepth, nil
	case m.Parent != nil:
		return 0, fmt.Errorf("gormplugin: %T: a leaf has no MaxDepth: it may hang below the deepest row of the model above", m.Model)
	case *m.MaxDepth < 1 || *m.MaxDepth > pathlock.MaxDepth:
		return 0, fmt.Errorf("gormplugin: %T: MaxDepth(%d): a limit is from 1 to %d", m.Model, *m.MaxDepth, pathlock.MaxDepth)
	}
	return *m.MaxDepth, nil
}

// checkModel refuses what the model itself says.
func (m Spec) checkModel(parsed *schema.Schema) error {
	named := m.Table
	switch {
	case named.Table != "" && named.Table != parsed.Table:
		return fmt.Errorf("gormplugin: %s: the table is %q: give the model a method TableName for %q", parsed.Name, parsed.Table, named.Table)
	case named.Key != "" && parsed.LookUpField(named.Key) != parsed.PrioritizedPrimaryField:
		return fmt.Errorf("gormplugin: %s: the key is %s: give %q the tag `gorm:\"primaryKey\"`", parsed.Name, parsed.PrioritizedPrimaryField.Name, named.Key)
	case len(named.Leaves) > 0:
		return fmt.Errorf("gormplugin: %s: register the models of the leaves by Leaf", parsed.Name)
	}
	return nil
}

// tagName is the struct tag that marks the tree's columns.
const tagName = "pathlock"

// inspect finds the columns of a registered model.
func inspect(db *gorm.DB, s Spec) (*Table, error) {
	stmt := &gorm.Statement{DB: db}
	err := stmt.Parse(s.Model)
	if err != nil {
		return nil, fmt.Errorf("gormplugin: %T is not a model: %w", s.Model, err)
	}
	parsed := stmt.Schema
	t := &Table{Shape: plan.Shape{TableName: parsed.Table, Namespace: s.Table.Namespace}, Schema: parsed, Key: parsed.PrioritizedPrimaryField}
	if t.Namespace == "" {
		t.Namespace = t.TableName
	}
	if _, err := pathlock.NewTree(t.Namespace, cmp.Or(s.Table.SingleTree, "0")); err != nil {
		return nil, fmt.Errorf("gormplugin: %s: %w", parsed.Name, err)
	}
	if t.Key == nil || len(parsed.PrimaryFields) != 1 {
		return nil, fmt.Errorf("gormplugin: %s: the model needs a primary key of exactly one column, which the parent column refers to: of a key over the tree and an id, make the id the primary key and the two a unique index", parsed.Name)
	}
	if err := s.checkModel(parsed); err != nil {
		return nil, err
	}
	if t.MaxDepth, err = s.depthLimit(); err != nil {
		return nil, err
	}
	if s.Parent != nil {
		named := s.Table.Path
		if f := parsed.LookUpField(named); f != nil && f.DBName != "" {
			named = ""
		}
		if t.told, err = findPathField(parsed, named); err != nil {
			return nil, err
		}
		if t.told != nil && named != "" {
			s.Table.Path = ""
		}
	}
	if err := t.findColumns(s); err != nil {
		return nil, err
	}
	if s.Table.SingleTree != "" {
		t.Sole = s.Table.SingleTree
	}
	if s.Parent == nil && t.Path == nil {
		t.Path, t.IDs, t.ByIDs, t.PathForm = t.IDs, nil, true, t.IDsForm
	}
	t.BothPaths, t.Nameless = t.IDs != nil, t.Name == nil
	if isBytes(t.Key) && t.HasIDs() {
		return nil, fmt.Errorf("gormplugin: %s: a path of ids needs keys that are numbers or texts: %s is written as bytes", parsed.Name, t.Key.Name)
	}
	if err := t.findMarks(db, s.Table.Deleted, s.Table.DeletedWhen); err != nil {
		return nil, err
	}
	for _, f := range parsed.Fields {
		adds, ok := reflect.New(f.IndirectFieldType).Interface().(schema.DeleteClausesInterface)
		if ok && f.DBName != "" && !slices.Contains(t.Deletion, f) {
			t.ClausesOfDelete = append(t.ClausesOfDelete, adds.DeleteClauses(f)...)
		}
	}
	for _, rel := range parsed.Relationships.Relations {
		if own := rel.ParseConstraint(); own != nil && strings.EqualFold(own.OnDelete, "CASCADE") && slices.Contains(own.ForeignKeys, t.Parent) {
			t.Cascades = true
		}
	}
	t.setAbove(t)
	t.setFollowing()
	t.setConditions(db)
	t.List = t.selectList()
	return t, t.checkColumns()
}

// findColumns finds the columns that say where a row is, and describes them.
func (t *Table) findColumns(s Spec) error {
	fields := make(map[string]*schema.Field)
	for _, role := range treetable.Roles {
		if role.Tag == "" || role.Tag == "deleted" { // see findMarks
			continue
		}
		field, err := findColumn(t.Schema, role.Tag, *role.Column(&s.Table))
		var tagged string
		if field != nil {
			fields[role.Tag], *role.Column(&t.described) = field, field.DBName
			if role.Value != nil {
				_, tagged, err = roleOf(field)
			}
		}
		if err != nil {
			return err
		}
		if role.Value != nil {
			*role.Value(&t.described) = cmp.Or(*role.Value(&s.Table), tagged)
		}
	}
	t.described.SingleTree = s.Table.SingleTree
	err := t.described.CheckColumns(s.Parent != nil)
	if err == nil && s.Parent != nil && t.described.Name == "" {
		err = errors.New("no name column is given")
	}
	if err != nil {
		return fmt.Errorf("gormplugin: %s: %w: columns are named by tags, such as `%s:%q`, or by Columns, and the only tree of a table by SingleTree", t.Schema.Name, err, tagName, "tree")
	}
	t.Tree, t.Parent, t.Name, t.Path, t.IDs = fields["tree"], fields["parent"], fields["name"], fields["path"], fields["idpath"]
	t.Version, t.Fence = fields["version"], fields["fence"]
	t.described.Table, t.described.Key = t.TableName, t.Key.DBName
	t.PathForm, _ = treetable.ParseForm(t.described.PathForm) // which were checked
	t.IDsForm, _ = treetable.ParseForm(t.described.IDPathForm)
	return nil
}

// selectList fills columns, and returns the columns as a SELECT lists them, and whether the row is
// live where rows can be marked as deleted.
func (t *Table) selectList() clause.Expression {
	t.columns = slices.DeleteFunc([]*schema.Field{t.Key, t.Parent, t.Name, t.Tree, t.Path, t.IDs, t.Version, t.Fence}, lacks)
	vars := make([]any, len(t.columns))
	for i, f := range t.columns {
		vars[i] = Column(f)
	}
	if len(t.Deletion) > 0 {
		vars = append(vars, clause.Expr{SQL: "(?)", Vars: []any{t.Alive}})
	}
	return clause.Expr{SQL: strings.Repeat(", ?", len(vars))[2:], Vars: vars}
}

// checkColumns refuses models whose settings would keep the plugin from writing a column, or change
// what it writes.
func (t *Table) checkColumns() error {
	for _, f := range slices.DeleteFunc(append(t.PlaceColumns(), t.Version), lacks) {
		switch {
		case f.Serializer != nil:
			return fmt.Errorf("gormplugin: %s: %s cannot have a serializer", t.Schema.Name, f.Name)
		case !f.Creatable, !f.Updatable && f != t.Tree && f != t.Name && f != t.Parent, !f.Readable:
			return fmt.Errorf("gormplugin: %s: %s must be readable and writable: its tag `gorm:\"%s\"` forbids it", t.Schema.Name, f.Name, f.Tag.Get("gorm"))
		case !t.keeps(f):
			return fmt.Errorf("gormplugin: %s: %s cannot be a %v, which writes the text of the column anew when it is set to it", t.Schema.Name, f.Name, f.FieldType)
		}
	}
	for _, f := range slices.DeleteFunc([]*schema.Field{t.Name, t.Path, t.IDs}, lacks) {
		value, err := Plain(reflect.Zero(f.IndirectFieldType).Interface())
		if _, text := value.(string); err != nil || value != nil && !text {
			return fmt.Errorf("gormplugin: %s: %s must be a text, not a %v", t.Schema.Name, f.Name, f.FieldType)
		}
		if f != t.Name && strings.EqualFold(f.TagSettings["TYPE"], "ltree") {
			return fmt.Errorf("gormplugin: %s: %s cannot be an ltree, which has neither the order of its bytes nor substrings: make it a text with the form *.*", t.Schema.Name, f.Name)
		}
	}
	if f := t.depth(); f != nil && f.GORMDataType != schema.Int && f.GORMDataType != schema.Uint {
		return fmt.Errorf("gormplugin: %s: the depth %s must be a whole number, not a %v", t.Schema.Name, f.Name, f.FieldType)
	}
	if t.Path != nil && t.Path.HasDefaultValue && strings.Trim(t.Path.DefaultValue, `'"`) != "" {
		return fmt.Errorf("gormplugin: %s: %s cannot have the default %s: the path of a root row is empty", t.Schema.Name, t.Path.Name, t.Path.DefaultValue)
	}
	return nil
}

// keeps reports whether a field that is set to its column's value writes the same value again: the
// plugin passes on keys, names and trees as the database has them.
func (t *Table) keeps(f *schema.Field) bool {
	once, err := t.Convert(context.Background(), f, "1")
	twice, again := t.Convert(context.Background(), f, once)
	return err != nil || again == nil && twice == once
}

// findColumn returns the field that is named, or else tagged; nil if there is none.
func findColumn(parsed *schema.Schema, tag, named string) (*schema.Field, error) {
	if named != "" {
		if f := parsed.LookUpField(named); f != nil && f.DBName != "" {
			return f, nil
		}
		return nil, fmt.Errorf("gormplugin: %s has no column %q, which was named as its %s", parsed.Name, named, tag)
	}
	return tagged(parsed, tag, func(f *schema.Field) bool { return f.DBName != "" })
}

// tagged returns the one of some fields that has a tag; nil if none has it.
func tagged(parsed *schema.Schema, tag string, of func(*schema.Field) bool) (found *schema.Field, err error) {
	for _, f := range parsed.Fields {
		role, _, err := roleOf(f)
		if role != tag || !of(f) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if found != nil {
			hint := ""
			if tag == "tree" {
				hint = ": give the tree one column, made of both in a BeforeCreate hook"
			}
			return nil, fmt.Errorf("gormplugin: %s: two fields, %s and %s, have the tag `%s:%q`%s", parsed.Name, found.Name, f.Name, tagName, tag, hint)
		}
		found = f
	}
	return found, nil
}

// findPathField returns the field of a leaf's model, no column, that is to get the leaf's path: the
// one that is named, or else tagged; nil if there is none.
func findPathField(parsed *schema.Schema, named string) (*schema.Field, error) {
	found, err := parsed.LookUpField(named), error(nil)
	if named == "" {
		found, err = tagged(parsed, "path", func(f *schema.Field) bool { return f.DBName == "" })
	}
	if found == nil || err != nil {
		return nil, err
	}
	if _, form, err := roleOf(found); err != nil || form != "" {
		return nil, cmp.Or(err, fmt.Errorf("gormplugin: %s: %s has no form: it receives its path as /a/b", parsed.Name, found.Name))
	}
	if found.IndirectFieldType.Kind() != reflect.String {
		return nil, fmt.Errorf("gormplugin: %s: %s cannot receive a path: it must be a string, not a %v", parsed.Name, found.Name, found.FieldType)
	}
	return found, nil
}

// IsTagged reports whether a model has a tag of its own for a parent, as trees and leaves have. One
// in an embedded struct may be that of a copy, such as a row of a history.
func IsTagged(model *schema.Schema) bool {
	parent, err := tagged(model, "parent", func(f *schema.Field) bool { return len(f.BindNames) == 1 })
	return parent != nil || err != nil
}

// roleOf parses a field's tag: the role of the column, and the value of the option that follows.
// The option extends to the end of the tag, because a form may contain commas.
func roleOf(f *schema.Field) (role, value string, err error) {
	tag := f.Tag.Get(tagName)
	role, option, more := strings.Cut(tag, ",")
	before := ""
	if i := slices.IndexFunc(treetable.Roles, func(r treetable.Role) bool { return r.Tag == role }); i >= 0 {
		before = treetable.Roles[i].Option
	}
	value, ok := strings.CutPrefix(option, before)
	if more && (!ok || value == "" || before == "") {
		return role, "", fmt.Errorf("gormplugin: %s.%s: the tag `%s:%q` is invalid: besides the role, a tag may have an option of that role, as in %q, %q, %q and %q",
			f.Schema.Name, f.Name, tagName, tag, "path,form:/*/*", "deleted,when:archived", "depth,top:0", "parent,top:-1")
	}
	return role, value, nil
}
