package write

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// guardedTable returns the guarded table to which a statement writes, nil if it writes to another
// one. It returns an error if the form of the statement hides which rows or columns it means.
// deletes is set for a DELETE.
func (e *Engine) guardedTable(stmt *gorm.Statement, deletes bool) (*table.Table, error) {
	if err := e.checkClauses(stmt, deletes); err != nil {
		return nil, err
	}
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

// checkUnregistered refuses a write of a model with a tree's tags to its own table, which is not
// guarded: nothing would set its path. Its registration was forgotten, or another DB's plugin has
// it.
func checkUnregistered(stmt *gorm.Statement) error {
	if stmt.Schema == nil || stmt.TableExpr != nil || stmt.Table != stmt.Schema.Table || !table.IsTagged(stmt.Schema) {
		return nil
	}
	return fmt.Errorf("%w to %q: the model %s has the tags of a tree, but is not registered with this DB's plugin: register it by Model or Leaf, or write by the DB whose plugin has it",
		fault.ErrUnsupported, stmt.Table, stmt.Schema.Name)
}

// named returns the guarded tables with a name, in whatever schema; all of them where the name is
// not known.
func (e *Engine) named(base string) []*table.Table {
	if base == "" {
		return e.All
	}
	return e.Bases[base]
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

// clauseOf returns a statement's clause of a type; empty if it has none.
func clauseOf[C clause.Interface](stmt *gorm.Statement) C {
	var none C
	c, _ := stmt.Clauses[none.Name()].Expression.(C)
	return c
}

// isForeign reports whether a statement on a guarded table is by another model, or by none. It may
// update columns that say nothing of places: see [checkForeign].
func isForeign(t *table.Table, stmt *gorm.Statement) bool {
	return stmt.Schema == nil || stmt.Schema.ModelType != t.Schema.ModelType
}

// checkForeign refuses an UPDATE by another model that assigns more than it may.
func checkForeign(t *table.Table, stmt *gorm.Statement, a *assignment) error {
	if !isForeign(t, stmt) {
		return nil
	}
	for _, assigned := range a.set {
		if f := t.ColumnNamed(assigned.Column.Name); f != nil && (f == t.Version || t.Owns(f)) {
			return t.Unsupported("writes of %q need the registered model: use db.Model(&%s{})", f.DBName, t.Schema.Name)
		}
	}
	return nil
}

// checkStatement refuses forms of write to a guarded table whose effect the plugin could not know.
func checkStatement(t *table.Table, stmt *gorm.Statement) error {
	insert, update, remove, from := clauseOf[clause.Insert](stmt), clauseOf[clause.Update](stmt), clauseOf[clause.Delete](stmt), clauseOf[clause.From](stmt)
	switch {
	case isForeign(t, stmt) && (len(stmt.BuildClauses) == 0 || stmt.BuildClauses[0] != "UPDATE"):
		return t.Unsupported("rows are created and deleted by the registered model: use db.Model(&%s{})", t.Schema.Name)
	case len(stmt.Joins) > 0:
		return t.Unsupported("a write cannot have joins: state the rows by a subquery, as in Where(\"id IN (?)\", …)")
	case insert.Modifier != "":
		return t.Unsupported("INSERT %s could leave rows out: use Create, and look for %v", insert.Modifier, fault.ErrNameTaken)
	case update.Modifier != "":
		return t.Unsupported("UPDATE %s could leave rows out: use Updates", update.Modifier)
	case remove.Modifier != "":
		return t.Unsupported("DELETE %s could mean other rows: use Delete", remove.Modifier)
	case len(from.Tables)+len(from.Joins) > 0:
		return t.Unsupported("a write cannot have a FROM clause: state the rows by a subquery, as in Where(\"id IN (?)\", …)")
	}
	return nil
}

// checkClauses refuses clauses that direct a statement to a guarded table which is not the
// statement's own. A DELETE deletes from the tables of its FROM clause; an UPDATE only reads them.
func (e *Engine) checkClauses(stmt *gorm.Statement, deletes bool) error {
	insert, update := clauseOf[clause.Insert](stmt), clauseOf[clause.Update](stmt)
	text, tables := insert.Modifier+update.Modifier+clauseOf[clause.Delete](stmt).Modifier, []clause.Table{insert.Table, update.Table}
	if deletes {
		tables = append(tables, clauseOf[clause.From](stmt).Tables...)
	}
	for _, named := range tables {
		if named.Name != "" && named.Name != clause.CurrentTable {
			text += " " + stmt.Quote(clause.Table{Name: named.Name, Raw: named.Raw})
		}
	}
	if text == "" {
		return nil
	}
	if guarded, found := e.Names.FirstIn(text); found {
		t := e.named(guarded)[0]
		return t.Unsupported("the table cannot be named by a clause: use db.Model(&%s{})", t.Schema.Name)
	}
	return nil
}

// savedBelow returns an association with rows of a guarded table that a statement may have been
// made to save, nil if there is none. Under FullSaveAssociations, GORM does not say which it is.
func (e *Engine) savedBelow(stmt *gorm.Statement) *schema.Relationship {
	if stmt.Schema == nil || len(stmt.Selects) == 0 && !stmt.FullSaveAssociations {
		return nil
	}
	for _, r := range slices.Concat(stmt.Schema.Relationships.HasOne, stmt.Schema.Relationships.HasMany) {
		saved := len(stmt.Selects) > 0 && stmt.Selects[0] == r.Name
		if stmt.FullSaveAssociations && stmt.ReflectValue.Kind() == reflect.Struct {
			_, zero := r.Field.ValueOf(stmt.Context, stmt.ReflectValue)
			saved = saved || !zero
		}
		if saved && e.Tables[r.FieldSchema.Table] != nil {
			return r
		}
	}
	return nil
}

// refuseReplace refuses Association(…).Replace of rows of a guarded table outside of a transaction.
// GORM saves the new rows by one statement, and clears the parent of the old ones by another. That
// may be refused, for example because a leaf needs a parent: the new rows would stay. Only the call
// stack tells it from Append, which is one statement.
func (e *Engine) refuseReplace(stmt *gorm.Statement) error {
	r := e.savedBelow(stmt)
	if r == nil {
		return nil
	}
	if _, running := stmt.ConnPool.(gorm.TxCommitter); running {
		return nil
	}
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, "gorm.(*Association).Replace") {
			return e.Tables[r.FieldSchema.Table].Unsupported("GORM replaces an association with two statements, and the second may be refused: run Association(%q).Replace in db.Transaction", r.Name)
		}
		if !more {
			return nil
		}
	}
}
