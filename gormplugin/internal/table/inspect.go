package table

import (
	"cmp"
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
	parsed, err := parseModel(db, s.Model)
	if err != nil {
		return nil, err
	}
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
	if t.PathForm, err = formOf(parsed, t.Path, s.Table.PathForm); err != nil {
		return nil, err
	}
	if t.IDsForm, err = formOf(parsed, t.IDs, s.Table.IDPathForm); err != nil {
		return nil, err
	}
	if s.Table.SingleTree != "" {
		if s.Parent != nil || t.Tree != nil {
			return nil, fmt.Errorf("gormplugin: %s: SingleTree(%q) is for a model that is no leaf and has no tree column", parsed.Name, s.Table.SingleTree)
		}
		t.Sole = s.Table.SingleTree
	}
	if s.Parent == nil && t.Path == nil {
		if t.IDs == nil {
			return nil, fmt.Errorf("gormplugin: %s: no field has the tag `%s:%q`, or %q for a path of ids", parsed.Name, tagName, "path", "idpath")
		}
		t.Path, t.IDs, t.ByIDs, t.PathForm = t.IDs, nil, true, t.IDsForm
	}
	if t.Name == nil && !t.ByIDs {
		return nil, fmt.Errorf("gormplugin: %s: no field has the tag `%s:%q`, which only a path of ids can do without", parsed.Name, tagName, "name")
	}
	t.BothPaths, t.Nameless = t.IDs != nil, t.Name == nil
	if zero, _ := Plain(reflect.Zero(t.Key.IndirectFieldType).Interface()); t.HasIDs() {
		if _, bytes := zero.(Bytes); bytes {
			return nil, fmt.Errorf("gormplugin: %s: a path of ids needs keys that are numbers or texts: %s is written as bytes", parsed.Name, t.Key.Name)
		}
	}
	if s.Parent != nil && t.Tree != nil {
		return nil, fmt.Errorf("gormplugin: %s: a leaf has no tree column: it is in the tree of its parent", parsed.Name)
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
	return t, cmp.Or(t.checkDepth(s.Parent != nil), t.checkColumns())
}

// findColumns finds the columns that say where a row is, and describes them.
func (t *Table) findColumns(s Spec) error {
	required := map[string]bool{"tree": s.Parent == nil && s.Table.SingleTree == "", "parent": true, "name": s.Parent != nil}
	tags, fields := make(map[*schema.Field]string), make(map[string]*schema.Field)
	for _, role := range treetable.Roles {
		if role.Tag == "" || role.Tag == "deleted" { // see findMarks
			continue
		}
		field, err := findColumn(t.Schema, role.Tag, *role.Column(&s.Table))
		if err != nil {
			return err
		}
		switch {
		case field == nil && role.Tag == "tree" && required[role.Tag]:
			return fmt.Errorf("gormplugin: %s: no field has the tag `%s:%q`: where all rows are in one tree, give that an id by SingleTree", t.Schema.Name, tagName, role.Tag)
		case field == nil && required[role.Tag]:
			return fmt.Errorf("gormplugin: %s: no field has the tag `%s:%q`", t.Schema.Name, tagName, role.Tag)
		case field == nil && role.Value != nil && *role.Value(&s.Table) != "":
			return fmt.Errorf("gormplugin: %s: %q says something of no column: there is no %s", t.Schema.Name, role.Option+*role.Value(&s.Table), role.What)
		case field == nil:
			continue
		case tags[field] != "":
			return fmt.Errorf("gormplugin: %s: %s cannot be both the %s and the %s", t.Schema.Name, field.Name, tags[field], role.Tag)
		}
		tags[field], fields[role.Tag] = role.Tag, field
		*role.Column(&t.described) = field.DBName
		if role.Value != nil {
			_, tagged, err := roleOf(field)
			if err != nil {
				return err
			}
			*role.Value(&t.described) = cmp.Or(*role.Value(&s.Table), tagged)
		}
	}
	t.Tree, t.Parent, t.Name, t.Path, t.IDs = fields["tree"], fields["parent"], fields["name"], fields["path"], fields["idpath"]
	t.Version, t.Fence = fields["version"], fields["fence"]
	return nil
}

// selectList fills columns, and returns the columns as a SELECT lists them, and whether the row is
// live where rows can be marked as deleted.
func (t *Table) selectList() clause.Expression {
	for _, f := range []*schema.Field{t.Key, t.Parent, t.Name, t.Tree, t.Path, t.IDs, t.Version, t.Fence} {
		if f != nil {
			t.columns = append(t.columns, f)
		}
	}
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
	for _, f := range append(t.PlaceColumns(), t.Version) {
		switch {
		case f == nil:
		case f.Serializer != nil:
			return fmt.Errorf("gormplugin: %s: %s cannot have a serializer", t.Schema.Name, f.Name)
		case !f.Creatable, !f.Updatable && f != t.Tree && f != t.Name && f != t.Parent, !f.Readable:
			return fmt.Errorf("gormplugin: %s: %s has to be readable and writable: its tag `gorm:\"%s\"` forbids it", t.Schema.Name, f.Name, f.Tag.Get("gorm"))
		}
	}
	for _, f := range []*schema.Field{t.Name, t.Path, t.IDs} {
		if f == nil {
			continue
		}
		value, err := Plain(reflect.Zero(f.IndirectFieldType).Interface())
		if _, text := value.(string); err != nil || value != nil && !text {
			return fmt.Errorf("gormplugin: %s: %s has to be a text, not a %v", t.Schema.Name, f.Name, f.FieldType)
		}
	}
	if t.Path != nil && t.Path.HasDefaultValue && strings.Trim(t.Path.DefaultValue, `'"`) != "" {
		return fmt.Errorf("gormplugin: %s: %s cannot have the default %s: the path of a root row is empty", t.Schema.Name, t.Path.Name, t.Path.DefaultValue)
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
		role, _, err := roleOf(f)
		if role != tag || f.DBName == "" {
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

// parseModel returns the schema that GORM sees in a model.
func parseModel(db *gorm.DB, model any) (*schema.Schema, error) {
	stmt := &gorm.Statement{DB: db}
	if err := stmt.Parse(model); err != nil {
		return nil, fmt.Errorf("gormplugin: %T is not a model: %w", model, err)
	}
	return stmt.Schema, nil
}

// findPathField returns the field of a leaf's model, no column, that is to get the leaf's path: the
// one that is named, or else tagged; nil if there is none.
func findPathField(parsed *schema.Schema, named string) (*schema.Field, error) {
	var found *schema.Field
	for _, f := range parsed.Fields {
		role, form, err := roleOf(f)
		if f.DBName != "" || f.Name != named && (named != "" || role != "path") {
			continue
		}
		if err != nil || form != "" {
			return nil, cmp.Or(err, fmt.Errorf("gormplugin: %s: %s has no form: it is told its path as /a/b", parsed.Name, f.Name))
		}
		if found != nil {
			return nil, fmt.Errorf("gormplugin: %s: two fields, %s and %s, have the tag `%s:%q`", parsed.Name, found.Name, f.Name, tagName, "path")
		}
		if f.IndirectFieldType.Kind() != reflect.String {
			return nil, fmt.Errorf("gormplugin: %s: %s cannot be told a path: it has to be a string, not a %v", parsed.Name, f.Name, f.FieldType)
		}
		found = f
	}
	return found, nil
}
