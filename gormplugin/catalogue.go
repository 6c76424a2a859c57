package gormplugin

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"gorm.io/gorm"
)

// catalogue knows the guarded tables. It is filled once, when the plugin comes into use.
type catalogue struct {
	// all are the tables in the order in which their models were registered.
	all    []*table
	tables map[string]*table   // by name
	bases  map[string][]*table // by name without the schema
	models map[reflect.Type]*table
	// names are the tables', as the database tells them apart, and spellings is the rule by which it
	// does.
	names     *rawsql.Names
	spellings rawsql.Case
	// recall is the key of what a request has read of the trees, and believed is set where a write
	// may be planned on that.
	recall   recallKey
	believed bool
}

// inspectAll finds the columns of all registered models.
func (p *catalogue) inspectAll(db *gorm.DB, d *dialect.Dialect, specs []modelSpec, recall recallKey, believed bool) error {
	if len(specs) == 0 {
		return errors.New("gormplugin: no model is registered")
	}
	p.recall, p.believed = recall, believed
	p.tables, p.bases, p.models = make(map[string]*table), make(map[string][]*table), make(map[reflect.Type]*table)
	for _, spec := range specs {
		t, err := inspect(db, spec)
		if err != nil {
			return err
		}
		t.dialect, t.recall, t.believed = d, recall, believed
		if d.TextsNeedSize {
			t.limitTexts()
		}
		if p.tables[t.name] != nil {
			return fmt.Errorf("gormplugin: the table %q is registered twice", t.name)
		}
		p.tables[t.name], p.models[t.schema.ModelType] = t, t
		p.all = append(p.all, t)
		p.bases[baseName(t.name)] = append(p.bases[baseName(t.name)], t)
	}
	for _, spec := range specs {
		if spec.parent == nil {
			continue
		}
		leaf, err := p.tableFor(spec.model)
		if err != nil {
			return err
		}
		if leaf.above, err = p.tableFor(spec.parent); err != nil {
			return err
		}
		if leaf.above.path == nil {
			return fmt.Errorf("gormplugin: %s hangs below %s, which has no path column", leaf.schema.Name, leaf.above.schema.Name)
		}
	}
	for _, t := range p.tables {
		t.findZeroKeys()
	}
	return nil
}

// tableFor returns the guarded table of a model.
func (p *catalogue) tableFor(model any) (*table, error) {
	if t := p.models[modelType(model)]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("gormplugin: the model %T is not registered", model)
}

// modelType returns the type of a model that is given as a value or by pointers to one; nil for
// nil.
func modelType(model any) reflect.Type {
	typ := reflect.TypeOf(model)
	for typ != nil && typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return typ
}
