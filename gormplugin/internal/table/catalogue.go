package table

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Catalogue knows the guarded tables. It is filled once, when the plugin comes into use.
type Catalogue struct {
	// All are the tables in the order in which their models were registered.
	All    []*Table
	Tables map[string]*Table   // by name
	Bases  map[string][]*Table // by name without the schema
	Models map[reflect.Type]*Table
	// Names are those of the tables.
	Names *rawsql.Names
}

// InspectAll finds the columns of all registered models.
func (c *Catalogue) InspectAll(db *gorm.DB, d *dialect.Dialect, specs []Spec) error {
	c.All, c.Tables, c.Bases, c.Models = nil, make(map[string]*Table), make(map[string][]*Table), make(map[reflect.Type]*Table)
	for _, spec := range specs {
		t, err := inspect(db, spec)
		if err != nil {
			return err
		}
		t.Dialect, t.recall = d, recallKey{c}
		if d.TextsNeedSize {
			t.limitTexts(db.Dialector)
		}
		t.NameRoom, t.PathRoom, t.IDsRoom = roomOf(t.Name), roomOf(t.Path), roomOf(t.IDs)
		for _, other := range c.All {
			if rawsql.SameName(t.TableName, other.TableName) { // at least some database would say so
				return fmt.Errorf("gormplugin: %q and %q are one table, which is registered twice", other.TableName, t.TableName)
			}
		}
		c.Tables[t.TableName], c.Models[t.Schema.ModelType] = t, t
		c.All = append(c.All, t)
		c.Bases[BaseName(t.TableName)] = append(c.Bases[BaseName(t.TableName)], t)
	}
	for _, spec := range specs {
		if spec.Parent == nil {
			continue
		}
		leaf, err := c.TableFor(spec.Model)
		if err != nil {
			return err
		}
		above, err := c.TableFor(spec.Parent)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(specs, func(s Spec) bool { return s.Parent != nil && c.Models[Pointee(s.Model)] == above }) {
			return fmt.Errorf("gormplugin: %s hangs below %s, which is a leaf", leaf.Schema.Name, above.Schema.Name)
		}
		leaf.setAbove(above)
		if err := leaf.findLeafPaths(); err != nil {
			return err
		}
	}
	for _, t := range c.Tables {
		if err := t.findZeroKeys(); err != nil {
			return err
		}
	}
	c.Names = rawsql.NewNames(d.Grammar, slices.Sorted(maps.Keys(c.Bases))...)
	return nil
}

// TableFor returns the guarded table of a model.
func (c *Catalogue) TableFor(model any) (*Table, error) {
	if t := c.Models[Pointee(model)]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("gormplugin: the model %T is not registered", model)
}

// WithRecall returns a context in which a resolver leaves what it reads.
func (c *Catalogue) WithRecall(ctx context.Context) context.Context {
	if ctx.Value(recallKey{c}) != nil {
		return ctx
	}
	return context.WithValue(ctx, recallKey{c}, new(recall))
}

// alters begins a statement that alters a table, and redefinition is how MySQL gives a column
// another definition in it.
var (
	alters       = regexp.MustCompile(`(?i)^\s*ALTER\s+TABLE\s`)
	redefinition = regexp.MustCompile("(?i)\\b(?:MODIFY|CHANGE)\\s+(?:COLUMN\\s+)?[`\"]?([^`\"\\s]+)")
)

// Redefined returns the table in which sql redefines a text that needs a binary collation and
// states none, as GORM's own AutoMigrate does, "" for none. The column would get the table's
// collation.
func (c *Catalogue) Redefined(sql string) string {
	if !alters.MatchString(sql) || strings.Contains(strings.ToUpper(sql), "COLLATE") {
		return ""
	}
	columns := redefinition.FindAllStringSubmatch(sql, -1)
	guarded, _ := c.Names.FirstIn(sql)
	for _, t := range c.Bases[guarded] {
		fields := []*schema.Field{t.Tree, t.Parent, t.Key}
		if !t.hasNumbers() {
			fields = append(fields, t.Path)
		}
		if !t.ByIDs {
			fields = append(fields, t.Name)
		}
		for _, f := range fields {
			if f != nil && isText(f) && slices.ContainsFunc(columns, func(m []string) bool { return strings.EqualFold(m[1], f.DBName) }) {
				return guarded
			}
		}
	}
	return ""
}
