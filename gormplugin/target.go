package gormplugin

import (
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// guardedTable returns the guarded table that a statement writes to, nil if it writes to another
// one, and an error if it does so in a form that hides which rows or columns it means. deletes is
// set for a DELETE.
func (p *frame) guardedTable(stmt *gorm.Statement, deletes bool) (*table, error) {
	if len(stmt.Clauses) > 0 {
		if err := p.checkClauses(stmt, deletes); err != nil {
			return nil, err
		}
	}
	if stmt.TableExpr == nil {
		if t := p.tables[stmt.Table]; t != nil {
			return t, t.checkStatement(stmt)
		}
		if !p.names.MayMention(stmt.Table) {
			return nil, nil
		}
	}
	// Table(name), a model whose table is in a schema, or another spelling of a name.
	expression := tableText(stmt)
	if !p.names.MayMention(expression) {
		return nil, nil
	}
	name, found := p.names.In(expression)
	if !found {
		return nil, nil
	}
	named := p.named(name)
	for _, t := range named {
		if unquoted(expression) == t.name && stmt.Table == baseName(t.name) {
			return t, t.checkStatement(stmt)
		}
	}
	if stmt.TableExpr == nil {
		return nil, named[0].unsupported("%s is the same table: use db.Model(&%s{})", expression, named[0].schema.Name)
	}
	return nil, named[0].unsupported("the table cannot be written as %q: writes can use neither an alias nor a join nor another schema's table of that name", expression)
}

// named returns the guarded tables with a name, in whatever schema; all of them where the name is
// not known.
func (p *frame) named(base string) []*table {
	if base != "" {
		return p.bases[base]
	}
	return slices.Concat(slices.Collect(maps.Values(p.bases))...)
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

// unquoted returns a name without quotation marks around its parts.
func unquoted(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("`\"[]", r) {
			return -1
		}
		return r
	}, strings.TrimSpace(name))
}

// checkStatement refuses the forms of writing to a guarded table of which the plugin could not tell
// what they do.
func (t *table) checkStatement(stmt *gorm.Statement) error {
	switch {
	case stmt.Schema == nil || stmt.Schema.ModelType != t.schema.ModelType:
		return t.unsupported("writes need the registered model: use db.Model(&%s{})", t.schema.Name)
	case len(stmt.Joins) > 0:
		return t.unsupported("a write cannot have joins: state the rows by a subquery, as in Where(\"id IN (?)\", …)")
	}
	if insert, ok := stmt.Clauses["INSERT"].Expression.(clause.Insert); ok && insert.Modifier != "" {
		return t.unsupported("INSERT %s could leave rows out: use Create, and look for %v", insert.Modifier, fault.ErrNameTaken)
	}
	if update, ok := stmt.Clauses["UPDATE"].Expression.(clause.Update); ok && update.Modifier != "" {
		return t.unsupported("UPDATE %s could leave rows out: use Updates", update.Modifier)
	}
	if remove, ok := stmt.Clauses["DELETE"].Expression.(clause.Delete); ok && remove.Modifier != "" {
		return t.unsupported("DELETE %s could mean other rows: use Delete", remove.Modifier)
	}
	if from, ok := stmt.Clauses["FROM"].Expression.(clause.From); ok && len(from.Tables)+len(from.Joins) > 0 {
		return t.unsupported("a write cannot have a FROM clause: state the rows by a subquery, as in Where(\"id IN (?)\", …)")
	}
	return nil
}

// checkClauses refuses clauses that turn a statement to a guarded table that is not the statement's
// own. A FROM clause names what a DELETE deletes from; an UPDATE only reads it.
func (p *frame) checkClauses(stmt *gorm.Statement, deletes bool) error {
	var named []string
	name := func(table clause.Table) {
		if table.Name != "" && table.Name != clause.CurrentTable {
			named = append(named, stmt.Quote(clause.Table{Name: table.Name, Raw: table.Raw}))
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
		for _, table := range from.Tables {
			name(table)
		}
	}
	for _, text := range named {
		if !p.names.MayMention(text) {
			continue
		}
		if guarded, found := p.names.In(text); found {
			t := p.named(guarded)[0]
			return t.unsupported("the table cannot be named by a clause: use db.Model(&%s{})", t.schema.Name)
		}
	}
	return nil
}
