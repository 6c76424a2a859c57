package write

import (
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// guardedTable returns the guarded table to which a statement writes, nil if it writes to another
// one. It returns an error if the form of the statement hides which rows or columns it means.
func (e *Engine) guardedTable(stmt *gorm.Statement) (*table.Table, error) {
	if stmt.TableExpr == nil {
		if t := e.Tables[stmt.Table]; t != nil {
			return t, checkStatement(t, stmt)
		}
	}
	// Table(name), a model whose table is in a schema, or another spelling of a name.
	expression := tableText(stmt)
	name, found := e.Names.FirstIn(expression)
	if !found {
		return nil, nil
	}
	named := e.named(name)
	for _, t := range named {
		if table.Unquoted(expression) == t.TableName && stmt.Table == table.BaseName(t.TableName) {
			return t, checkStatement(t, stmt)
		}
	}
	if stmt.TableExpr == nil {
		return nil, named[0].Unsupported("%s is the same table: use db.Model(&%s{})", expression, named[0].Schema.Name)
	}
	return nil, named[0].Unsupported("the table cannot be written as %q: writes can use neither an alias nor a join nor another schema's table of that name", expression)
}

// named returns the guarded tables with a name, in whatever schema; all of them where the name is
// not known.
func (e *Engine) named(base string) []*table.Table {
	if base != "" {
		return e.Bases[base]
	}
	return slices.Concat(slices.Collect(maps.Values(e.Bases))...)
}

// tableText returns a statement's table as it will be written.
func tableText(stmt *gorm.Statement) string {
	if stmt.TableExpr == nil {
		return stmt.Quote(stmt.Table)
	}
	if len(stmt.TableExpr.Vars) == 0 {
		return stmt.TableExpr.SQL
	}
	scratch := &gorm.Statement{DB: stmt.DB.Session(&gorm.Session{DryRun: true, NewDB: true}), Context: stmt.Context, Clauses: make(map[string]clause.Clause)}
	stmt.TableExpr.Build(scratch)
	return scratch.SQL.String()
}

// checkStatement refuses forms of write to a guarded table whose effect the plugin could not know.
func checkStatement(t *table.Table, stmt *gorm.Statement) error {
	insert, _ := stmt.Clauses["INSERT"].Expression.(clause.Insert)
	update, _ := stmt.Clauses["UPDATE"].Expression.(clause.Update)
	remove, _ := stmt.Clauses["DELETE"].Expression.(clause.Delete)
	from, _ := stmt.Clauses["FROM"].Expression.(clause.From)
	switch {
	case stmt.Schema == nil || stmt.Schema.ModelType != t.Schema.ModelType:
		return t.Unsupported("writes need the registered model: use db.Model(&%s{})", t.Schema.Name)
	case len(stmt.Joins) > 0:
		return t.Unsupported("a write cannot have joins: state the rows by a subquery, as in Where(\"id IN (?)\", …)")
	case insert.Modifier+update.Modifier+remove.Modifier != "":
		return t.Unsupported("a modifier such as IGNORE could leave rows out: use Create, Updates or Delete, and look for %v", fault.ErrNameTaken)
	case insert.Table.Name+update.Table.Name != "", len(from.Tables)+len(from.Joins) > 0:
		return t.Unsupported("a write cannot name tables by clauses: state the rows by a subquery, as in Where(\"id IN (?)\", …)")
	}
	return nil
}
