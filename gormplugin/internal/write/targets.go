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

// hasCondition reports whether a statement says which rows it means. GORM refuses one that does
// not, unless AllowGlobalUpdate is set. To pin its targets would bypass that.
func hasCondition(stmt *gorm.Statement) bool {
	where := clauseOf[clause.Where](stmt)
	_, soft := stmt.Clauses["soft_delete_enabled"]
	return len(where.Exprs) > 1 || !soft && len(where.Exprs) == 1
}

// Narrows reports whether a statement has conditions, or joins or scopes that may be some. GORM has
// no other way to tell that there are scopes.
func Narrows(stmt *gorm.Statement) bool {
	scopes := reflect.ValueOf(stmt).Elem().FieldByName("scopes")
	return hasCondition(stmt) || len(stmt.Joins) > 0 || scopes.IsValid() && scopes.Len() > 0
}

// selectionOf selects the rows that stmt means: by the same conditions, order and limit; or, unless
// ids is nil, by the conditions among those with the given ids.
func selectionOf(t *table.Table, stmt *gorm.Statement, ids []any, lock string) table.Selection {
	s := table.Selection{Keys: ids, Unscoped: true, Lock: lock}
	if stated := clauseOf[clause.Where](stmt); len(stated.Exprs) > 0 {
		// Cloned, as building them reorders them in place.
		s.Where = clause.And(slices.Clone(stated.Exprs)...)
	}
	if !stmt.Unscoped && s.Where == nil {
		s.Where = t.Seen
	} else if !stmt.Unscoped {
		s.Where = clause.Expr{SQL: "(?) AND ?", Vars: []any{s.Where, t.Seen}}
	}
	for _, name := range []string{"ORDER BY", "LIMIT"} {
		if c, ok := stmt.Clauses[name]; ok && ids == nil {
			s.Ends = append(s.Ends, c)
		}
	}
	return s
}

// targetsOf reads the rows that stmt hits; among those with the given ids, unless ids is nil.
func (s *statement) targetsOf(stmt *gorm.Statement, ids []any, lock string) (plan.Hits, error) {
	found := plan.NewHits()
	all, err := s.Table.Read(s.DB, selectionOf(s.Table, stmt, ids, lock))
	found.Add(all)
	return found, err
}

// pin makes a statement mean exactly the rows with the ids, which were locked and checked, under
// the given conditions only. The statement's own conditions held for the rows under their locks.
// After the plugin's own writes, they may no longer: one may ask for rows with children.
func pin(t *table.Table, stmt *gorm.Statement, ids []any, conditions ...clause.Expression) {
	pinned := clause.Expression(clause.Expr{SQL: "1 = 0"})
	if len(ids) > 0 {
		pinned = t.KeyIn(table.Column(t.Key), ids)
	}
	where := []clause.Expression{pinned}
	if len(conditions) > 0 {
		where = append(where, t.AlsoWhere(clause.And(slices.Clone(conditions)...)))
	}
	if !stmt.Unscoped {
		// GORM takes a first condition for its own, and adds another one.
		where = append(where, t.AlsoWhere(t.Seen))
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

// survey reads, by one plain read, the rows that stmt hits, those with the ids in also, and all
// rows above both. It returns the rows that the statement hits and, by id, the live ones of all
// that it has read. Of leaves, it reads only the rows that are hit.
func (s *statement) survey(stmt *gorm.Statement, also []any) (plan.Hits, map[any]*table.Node, error) {
	t, sole := s.Table, s.soleKey(stmt)
	also = slices.DeleteFunc(slices.Clone(also), func(id any) bool { return id == nil })
	// A survey either relies on what the request has read before, or reads everything.
	if hit, known, ok := knownSurvey(t, sole, t.Recalled(s.DB), also); ok {
		hit.Recalled = true
		return hit, known, nil
	}
	if t.IsLeaf {
		hit, err := s.targetsOf(stmt, nil, "")
		return hit, nil, err
	}
	if sole != nil {
		read, err := t.Retrace(s.DB, append([]any{sole}, also...), 1)
		if err != nil {
			return plan.Hits{}, nil, err
		}
		if hit, known, ok := knownSurvey(t, sole, map[string]map[any]*table.Node{t.TableName: read}, also); ok {
			return hit, known, nil
		}
	}
	d := t.Source(s.DB)
	addSurvey(t, d, selectionOf(t, stmt, nil, ""), also, t.MayHitDeleted(stmt))
	rows, err := t.Collect(d, false, true)
	if err != nil {
		return plan.Hits{}, nil, err
	}
	hit := plan.NewHits()
	known := make(map[any]*table.Node, len(rows))
	for _, n := range rows {
		// A row that is hit and lies above another one was found twice.
		if !n.Dead && (known[n.ID] == nil || n.Hit) {
			known[n.ID] = n
		}
		if n.Hit {
			hit.Add([]*table.Node{n})
		}
	}
	t.Learn(known)
	return hit, known, nil
}

// addSurvey adds the survey's SQL: the rows that are hit, deleted ones too if dead is set, the rows
// above these, by their parents, and for each the columns of its place.
func addSurvey(t *table.Table, d *table.Direct, hits table.Selection, also []any, dead bool) {
	name, key, parent := clause.Table{Name: t.TableName}, clause.Column{Name: t.Key.DBName}, clause.Column{Name: t.Parent.DBName}
	// UNION, unlike UNION ALL, ends even if rows are each other's parents.
	d.Add("WITH RECURSIVE up (id, above, hit) AS (")
	if hits.Ends != nil {
		d.Add("SELECT * FROM (")
	}
	d.Add("SELECT ?, ?, 1 AS hit FROM ? WHERE ?", key, parent, name, t.Matching(hits.Where, hits.Unscoped))
	for _, c := range hits.Ends {
		d.Add(" ?", c)
	}
	if hits.Ends != nil {
		d.Add(") AS chosen")
	}
	if len(also) > 0 {
		d.Add(" UNION SELECT ?, ?, 0 FROM ? WHERE ?", key, parent, name, t.KeyIn(table.Column(t.Key), also))
	}
	d.Add(" UNION SELECT s.?, s.?, 0 FROM ? AS s JOIN up ON s.? = up.above)", key, parent, name, key)
	d.Add(" SELECT ?, up.hit = 1 FROM up JOIN ? ON ? = up.id WHERE (?", t.List, name, table.Column(t.Key), t.AlsoWhere(t.Alive))
	if dead {
		d.Add(" OR up.hit = 1")
	}
	d.Add(")")
}

// soleKey returns the key of the one row that a statement means by nothing but its key, nil for any
// other statement.
func (s *statement) soleKey(stmt *gorm.Statement) (sole any) {
	t := s.Table
	if s.op != nil {
		if !s.op.Alone {
			return nil
		}
		return s.op.ID
	}
	where := clauseOf[clause.Where](stmt)
	_, ordered := stmt.Clauses["ORDER BY"]
	_, limited := stmt.Clauses["LIMIT"]
	if ordered || limited || stmt.Unscoped || len(stmt.Joins) > 0 {
		return nil
	}
	for _, e := range where.Exprs {
		if reflect.DeepEqual(e, t.Seen) {
			continue // GORM has added it already: the statement is in a transaction.
		}
		keys := s.keysIn(e)
		if len(keys) != 1 || sole != nil && sole != keys[0] {
			return nil
		}
		sole = keys[0]
	}
	return sole
}

// mayMiss reports whether a statement may hit more rows than were found for it: in a transaction of
// the caller's, a plain read may be of a snapshot that is older than the rows; a dirty read lacks
// those that somebody is about to delete.
func (s *statement) mayMiss(stmt *gorm.Statement, found int) bool {
	if s.Dialect.Newest == "" || s.begun != nil && !s.dirty || s.op != nil || s.nodes != nil {
		return false
	}
	where := clauseOf[clause.Where](stmt)
	few := false
	for _, e := range where.Exprs {
		if _, or := e.(clause.OrConditions); or {
			return true
		}
		keys := s.keysIn(e)
		few = few || len(keys) > 0 && len(keys) <= found
	}
	return !few
}

// keysIn returns the keys that a condition states, if it is one on the key alone and they are keys:
// neither a subquery nor a list in place of one. Otherwise it returns none.
func (s *statement) keysIn(condition clause.Expression) []any {
	var keys []any
	for _, value := range keyValues(s.Table, condition) {
		key, err := s.Table.KeyOf(s.DB, value)
		if err != nil || key == nil {
			return nil
		}
		keys = append(keys, key)
	}
	return keys
}

// keyValues returns the values of the key in a condition on nothing else, none if it is another
// one.
func keyValues(t *table.Table, condition clause.Expression) []any {
	isKey := func(column any) bool {
		switch c := column.(type) {
		case string:
			return c == t.Key.DBName
		case clause.Column:
			return !c.Raw && (c.Name == t.Key.DBName || c.Name == clause.PrimaryKey) && (c.Table == "" || c.Table == clause.CurrentTable || c.Table == t.TableName)
		}
		return false
	}
	switch c := condition.(type) {
	case clause.Eq:
		if isKey(c.Column) {
			return []any{c.Value}
		}
	case clause.IN:
		if isKey(c.Column) {
			return c.Values
		}
	case clause.Expr:
		if c.SQL == t.Key.DBName+" = ?" && len(c.Vars) == 1 {
			return c.Vars
		}
	}
	return nil
}

// knownSurvey returns what [statement.survey] would return for a statement that means the row with
// the key, from rows that were read.
func knownSurvey(t *table.Table, key any, read map[string]map[any]*table.Node, also []any) (hit plan.Hits, known map[any]*table.Node, ok bool) {
	n := read[t.TableName][key]
	if n == nil {
		return hit, nil, false
	}
	if known = t.Above.ChainsIn(read, append([]any{n.Parent}, also...)); known == nil {
		return hit, nil, false
	}
	if !t.IsLeaf {
		known[n.ID] = n
	}
	return plan.Hits{Live: map[any]*table.Node{n.ID: n}}, known, true
}
