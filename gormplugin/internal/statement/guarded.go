package statement

import (
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// guardedTable returns the guarded table that a statement writes to, nil if it writes to another
// one, and an error if it does so in a form that hides which rows or columns it means. deletes is
// set for a DELETE.
func (f *Frame) guardedTable(stmt *gorm.Statement, deletes bool) (*table.Table, error) {
	if len(stmt.Clauses) > 0 {
		if err := f.checkClauses(stmt, deletes); err != nil {
			return nil, err
		}
	}
	if stmt.TableExpr == nil {
		if t := f.Tables[stmt.Table]; t != nil {
			return t, checkStatement(t, stmt)
		}
		if !f.Names.MayMention(stmt.Table) {
			return nil, nil
		}
	}
	// Table(name), a model whose table is in a schema, or another spelling of a name.
	expression := tableText(stmt)
	if !f.Names.MayMention(expression) {
		return nil, nil
	}
	name, found := f.Names.FirstIn(expression)
	if !found {
		return nil, nil
	}
	named := f.named(name)
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
func (f *Frame) named(base string) []*table.Table {
	if base != "" {
		return f.Bases[base]
	}
	return slices.Concat(slices.Collect(maps.Values(f.Bases))...)
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

// checkStatement refuses the forms of writing to a guarded table of which the plugin could not tell
// what they do.
func checkStatement(t *table.Table, stmt *gorm.Statement) error {
	switch {
	case stmt.Schema == nil || stmt.Schema.ModelType != t.Schema.ModelType:
		return t.Unsupported("writes need the registered model: use db.Model(&%s{})", t.Schema.Name)
	case len(stmt.Joins) > 0:
		return t.Unsupported("a write cannot have joins: state the rows by a subquery, as in Where(\"id IN (?)\", …)")
	}
	if insert, ok := stmt.Clauses["INSERT"].Expression.(clause.Insert); ok && insert.Modifier != "" {
		return t.Unsupported("INSERT %s could leave rows out: use Create, and look for %v", insert.Modifier, fault.ErrNameTaken)
	}
	if update, ok := stmt.Clauses["UPDATE"].Expression.(clause.Update); ok && update.Modifier != "" {
		return t.Unsupported("UPDATE %s could leave rows out: use Updates", update.Modifier)
	}
	if remove, ok := stmt.Clauses["DELETE"].Expression.(clause.Delete); ok && remove.Modifier != "" {
		return t.Unsupported("DELETE %s could mean other rows: use Delete", remove.Modifier)
	}
	if from, ok := stmt.Clauses["FROM"].Expression.(clause.From); ok && len(from.Tables)+len(from.Joins) > 0 {
		return t.Unsupported("a write cannot have a FROM clause: state the rows by a subquery, as in Where(\"id IN (?)\", …)")
	}
	return nil
}

// checkClauses refuses clauses that turn a statement to a guarded table that is not the statement's
// own. A FROM clause names what a DELETE deletes from; an UPDATE only reads it.
func (f *Frame) checkClauses(stmt *gorm.Statement, deletes bool) error {
	var named []string
	name := func(guarded clause.Table) {
		if guarded.Name != "" && guarded.Name != clause.CurrentTable {
			named = append(named, stmt.Quote(clause.Table{Name: guarded.Name, Raw: guarded.Raw}))
		}
	}
	if insert, ok := stmt.Clauses["INSERT"].Expression.(clause.Insert); ok {
		name(insert.Table)
		named = append(named, insert.Modifier)
	}
	if update, ok := stmt.Clauses["UPDATE"].Expression.(clause.Update); ok {
		name(update.Table)
		named = append(named, update.Modifier)
	}
	if remove, ok := stmt.Clauses["DELETE"].Expression.(clause.Delete); ok {
		named = append(named, remove.Modifier)
	}
	if from, ok := stmt.Clauses["FROM"].Expression.(clause.From); ok && deletes {
		for _, guarded := range from.Tables {
			name(guarded)
		}
	}
	for _, text := range named {
		if !f.Names.MayMention(text) {
			continue
		}
		if guarded, found := f.Names.FirstIn(text); found {
			t := f.named(guarded)[0]
			return t.Unsupported("the table cannot be named by a clause: use db.Model(&%s{})", t.Schema.Name)
		}
	}
	return nil
}
