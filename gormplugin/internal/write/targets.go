package write

import (
	"reflect"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// HasCondition reports whether a statement says which rows it means. GORM refuses one that does
// not, unless AllowGlobalUpdate is set. To pin its targets would bypass that.
func HasCondition(stmt *gorm.Statement) bool {
	where, ok := stmt.Clauses["WHERE"].Expression.(clause.Where)
	if !ok {
		return false
	}
	if _, soft := stmt.Clauses["soft_delete_enabled"]; soft {
		return len(where.Exprs) > 1
	}
	return len(where.Exprs) > 0
}

// hits selects the rows that stmt means: by the same conditions, order and limit; or, unless ids is
// nil, by the conditions among those with the given ids.
func hits(t *table.Table, stmt *gorm.Statement, ids []any, lock string) table.Selection {
	s := table.Selection{Unscoped: true, Lock: lock}
	if stated, ok := stmt.Clauses["WHERE"].Expression.(clause.Where); ok && len(stated.Exprs) > 0 {
		// Cloned, as building them reorders them in place.
		s.Where = clause.And(slices.Clone(stated.Exprs)...)
	}
	if !stmt.Unscoped && s.Where == nil {
		s.Where = t.Seen
	} else if !stmt.Unscoped {
		s.Where = clause.Expr{SQL: "(?) AND ?", Vars: []any{s.Where, t.Seen}}
	}
	if ids != nil {
		s.Keys = ids
		return s
	}
	if c, ok := stmt.Clauses["ORDER BY"]; ok {
		s.Order = whole{c}
	}
	if c, ok := stmt.Clauses["LIMIT"]; ok {
		s.Limit = whole{c}
	}
	return s
}

// whole is a clause of a statement with its name, as an expression.
type whole struct{ clause.Clause }

// Build implements [clause.Expression].
func (w whole) Build(b clause.Builder) { w.Clause.Build(b) }

// targetsOf reads the rows that stmt hits; among those with the given ids, unless ids is nil.
func (e *Engine) targetsOf(db *gorm.DB, t *table.Table, stmt *gorm.Statement, ids []any, lock string) (plan.Hits, error) {
	found, chunks := plan.NewHits(), [][]any{nil}
	if ids != nil {
		chunks = slices.Collect(slices.Chunk(ids, table.MaxPlaceholders))
	}
	for _, chunk := range chunks {
		all, err := t.Read(db, hits(t, stmt, chunk, lock))
		if err != nil {
			return found, err
		}
		found.Add(all)
	}
	return found, nil
}

// pin makes a statement mean exactly the rows with the ids, which were locked and checked, under
// the given conditions only. The statement's own conditions held for the rows under their locks.
// They may not hold after the plugin's own writes, such as one that asks for rows with children.
func pin(t *table.Table, stmt *gorm.Statement, ids []any, conditions ...clause.Expression) {
	pinned := clause.Expression(clause.Expr{SQL: "1 = 0"})
	if len(ids) > 0 {
		pinned = t.KeyIn(table.Column(t.Key), ids)
	}
	where := []clause.Expression{pinned}
	if len(conditions) > 0 {
		where = append(where, t.Aside(clause.And(slices.Clone(conditions)...)))
	}
	if !stmt.Unscoped {
		// GORM takes a first condition for its own, and adds another one.
		where = append(where, t.Aside(t.Seen))
	}
	stmt.Clauses["WHERE"] = clause.Clause{Name: "WHERE", Expression: clause.Where{Exprs: where}}
	// The order and the limit have already chosen the rows.
	delete(stmt.Clauses, "ORDER BY")
	delete(stmt.Clauses, "LIMIT")
}

// addKeys adds to a DELETE the conditions on the primary keys that the model's rows state, as
// GORM's own callback does before it builds the SQL.
func addKeys(t *table.Table, stmt *gorm.Statement) {
	add := func(values [][]any) {
		key, list := schema.ToQueryValues(stmt.Table, t.Schema.PrimaryFieldDBNames, values)
		if len(list) > 0 {
			stmt.AddClause(clause.Where{Exprs: []clause.Expression{clause.IN{Column: key, Values: list}}})
		}
	}
	_, values := schema.GetIdentityFieldValuesMap(stmt.Context, stmt.ReflectValue, t.Schema.PrimaryFields)
	add(values)
	if stmt.ReflectValue.CanAddr() && stmt.Dest != stmt.Model && stmt.Model != nil {
		_, values = schema.GetIdentityFieldValuesMap(stmt.Context, reflect.ValueOf(stmt.Model), t.Schema.PrimaryFields)
		add(values)
	}
}
