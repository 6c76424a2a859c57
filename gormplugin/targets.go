package gormplugin

import (
	"maps"
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// targets are the rows that an UPDATE or DELETE hits: live holds those that are part of the tree,
// by id, ids all of them.
type targets struct {
	live map[any]*node
	dead map[any]*node
}

// ids returns the ids of all targets.
func (x targets) ids() []any {
	return append(slices.Collect(maps.Keys(x.live)), slices.Collect(maps.Keys(x.dead))...)
}

// hasCondition reports whether a statement says which rows it means. One that does not
// is left to GORM, which refuses it unless AllowGlobalUpdate is set; pinning its targets would get around that.
func hasCondition(stmt *gorm.Statement) bool {
	where, ok := stmt.Clauses["WHERE"].Expression.(clause.Where)
	if !ok {
		return false
	}
	if _, soft := stmt.Clauses["soft_delete_enabled"]; soft {
		return len(where.Exprs) > 1
	}
	return len(where.Exprs) > 0
}

// targetsOf reads the rows that stmt hits, with the same conditions, order and limit; among those with the given
// ids, unless ids is nil.
func (p *Plugin) targetsOf(db *gorm.DB, t *table, stmt *gorm.Statement, ids []any, lock rowLock) (targets, error) {
	found := targets{live: make(map[any]*node), dead: make(map[any]*node)}
	read := func(unscoped bool) ([]*node, error) {
		query := t.own(db)
		query.Statement.Unscoped = unscoped
		for _, name := range []string{"WHERE", "ORDER BY", "LIMIT"} {
			c, ok := stmt.Clauses[name]
			if !ok {
				continue
			}
			if where, ok := c.Expression.(clause.Where); ok {
				// Building a WHERE reorders its conditions in place.
				where.Exprs = slices.Clone(where.Exprs)
				c.Expression = where
			}
			query.Statement.Clauses[name] = c
		}
		if ids == nil {
			return t.read(query, lock)
		}
		if len(ids) == 0 {
			return nil, nil
		}
		t.pin(query.Statement, ids)
		t.byPrimaryKey(query, lock)
		return t.read(query, lock)
	}
	// Without Unscoped the statement hits live rows only, by GORM's own condition.
	live, err := read(false)
	if err != nil {
		return found, err
	}
	for _, n := range live {
		found.live[n.id] = n
	}
	if !stmt.Unscoped || len(t.deletion) == 0 {
		return found, nil
	}
	all, err := read(true)
	if err != nil {
		return found, err
	}
	for _, n := range all {
		if found.live[n.id] == nil {
			found.dead[n.id] = n
		}
	}
	return found, nil
}

// pin narrows a statement down to the rows that were locked and checked.
func (t *table) pin(stmt *gorm.Statement, ids []any) {
	var exprs []clause.Expression
	if where, ok := stmt.Clauses["WHERE"].Expression.(clause.Where); ok && len(where.Exprs) > 0 {
		exprs = append(exprs, clause.And(slices.Clone(where.Exprs)...))
	}
	var pinned clause.Expression = clause.Expr{SQL: "1 = 0"}
	if len(ids) > 0 {
		pinned = in(t.key, ids)
	}
	exprs = append(exprs, pinned)
	stmt.Clauses["WHERE"] = clause.Clause{Name: "WHERE", Expression: clause.Where{Exprs: exprs}}
	// The rows have been chosen: an order and a limit have done their work.
	delete(stmt.Clauses, "ORDER BY")
	delete(stmt.Clauses, "LIMIT")
}

// addKeys adds to a DELETE the conditions on the primary keys that the model's rows state, as GORM's
// own callback does right before it writes the SQL.
func (t *table) addKeys(stmt *gorm.Statement) {
	add := func(values [][]any) {
		key, list := schema.ToQueryValues(stmt.Table, t.schema.PrimaryFieldDBNames, values)
		if len(list) > 0 {
			stmt.AddClause(clause.Where{Exprs: []clause.Expression{clause.IN{Column: key, Values: list}}})
		}
	}
	_, values := schema.GetIdentityFieldValuesMap(stmt.Context, stmt.ReflectValue, t.schema.PrimaryFields)
	add(values)
	if stmt.ReflectValue.CanAddr() && stmt.Dest != stmt.Model && stmt.Model != nil {
		_, values = schema.GetIdentityFieldValuesMap(stmt.Context, reflect.ValueOf(stmt.Model), t.schema.PrimaryFields)
		add(values)
	}
}
