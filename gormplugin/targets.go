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
	if ids != nil && len(ids) == 0 {
		return found, nil
	}
	query := t.own(db)
	query.Statement.Unscoped = stmt.Unscoped
	var where []clause.Expression
	if stated, ok := stmt.Clauses["WHERE"].Expression.(clause.Where); ok && len(stated.Exprs) > 0 {
		// In parentheses, for the sake of an OR in them; and cloned, as building them reorders them in place.
		where = append(where, clause.And(slices.Clone(stated.Exprs)...))
	}
	if ids == nil {
		for _, name := range []string{"ORDER BY", "LIMIT"} {
			if c, ok := stmt.Clauses[name]; ok {
				query.Statement.Clauses[name] = c
			}
		}
	} else {
		where = append(where, in(t.key, ids))
		t.byPrimaryKey(query, lock)
	}
	if len(where) > 0 {
		query.Statement.AddClause(clause.Where{Exprs: where})
	}
	all, err := t.read(query, lock)
	if err != nil {
		return found, err
	}
	for _, n := range all {
		found.live[n.id] = n
	}
	if !stmt.Unscoped || len(t.deletion) == 0 {
		// By GORM's own condition, the statement hits live rows only.
		return found, nil
	}
	live, err := t.byID(db, slices.Collect(maps.Keys(found.live)), lock)
	if err != nil {
		return found, err
	}
	for id, n := range found.live {
		if live[id] == nil {
			found.dead[id] = n
			delete(found.live, id)
		}
	}
	return found, nil
}

// pin has a statement mean exactly the rows that were locked and checked, and no conditions any more: these were true of the rows under their
// locks, and may not be after the plugin's own writes, such as one that looks for rows with children.
func (t *table) pin(stmt *gorm.Statement, ids []any) {
	pinned := clause.Expression(clause.Expr{SQL: "1 = 0"})
	if len(ids) > 0 {
		pinned = in(t.key, ids)
	}
	stmt.Clauses["WHERE"] = clause.Clause{Name: "WHERE", Expression: clause.Where{Exprs: []clause.Expression{pinned}}}
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
