package write

import (
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// survey reads, by one plain read, the rows that stmt hits, those with the ids in also, and all
// rows above both. It returns the rows that the statement hits and, by id, the live ones of all
// that it has read. Of leaves, it reads only the rows that are hit.
func (e *Engine) survey(db *gorm.DB, t *table.Table, stmt *gorm.Statement, also ...any) (plan.Hits, map[any]*table.Node, error) {
	// A survey believes what the request has read before, or reads all of it.
	if hit, known, ok := recallOperation(t, operationOf(db), t.Recalled(db), also); ok {
		return hit, known, nil
	}
	if t.IsLeaf() {
		hit, err := e.targetsOf(db, t, stmt, nil, "")
		return hit, nil, err
	}
	d := t.Source(db)
	addSurvey(t, d, hits(t, stmt, nil, ""), also, t.MayHitDeleted(stmt))
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
	return hit, known, nil
}

// addSurvey adds the survey's SQL: the rows that are hit, deleted ones too if dead is set, from
// there up by the parents, and for each the columns of its place.
func addSurvey(t *table.Table, d *table.Direct, hits table.Selection, also []any, dead bool) {
	name, key, parent := clause.Table{Name: t.TableName}, clause.Column{Name: t.Key.DBName}, clause.Column{Name: t.Parent.DBName}
	// UNION, unlike UNION ALL, comes to an end where rows are each other's parents.
	d.Add("WITH RECURSIVE up (id, above, hit) AS (")
	chosen := hits.Order != nil || hits.Limit != nil
	if chosen {
		d.Add("SELECT * FROM (")
	}
	d.Add("SELECT ?, ?, 1 AS hit FROM ? WHERE ?", key, parent, name, t.Matching(hits.Where, hits.Unscoped))
	for _, c := range []clause.Expression{hits.Order, hits.Limit} {
		if c != nil {
			d.Add(" ?", c)
		}
	}
	if chosen {
		d.Add(") AS chosen")
	}
	if also = slices.DeleteFunc(slices.Clone(also), func(id any) bool { return id == nil }); len(also) > 0 {
		d.Add(" UNION SELECT ?, ?, 0 FROM ? WHERE ?", key, parent, name, t.KeyIn(table.Column(t.Key), also))
	}
	d.Add(" UNION SELECT s.?, s.?, 0 FROM ? AS s JOIN up ON s.? = up.above)", key, parent, name, key)
	d.Add(" SELECT ?, up.hit = 1 FROM up JOIN ? ON ? = up.id WHERE (?", t.List, name, table.Column(t.Key), t.Aside(t.Alive))
	if dead {
		d.Add(" OR up.hit = 1")
	}
	d.Add(")")
}

// recallOperation returns what [Engine.survey] would return for the statement of an operation, from
// what the request has read before.
func recallOperation(t *table.Table, op *Operation, read map[string]map[any]*table.Node, also []any) (hit plan.Hits, known map[any]*table.Node, ok bool) {
	if op == nil || !op.Alone {
		return hit, nil, false
	}
	n := read[t.TableName][op.ID]
	if n == nil {
		return hit, nil, false
	}
	ids := []any{n.Parent}
	for _, id := range also {
		if id != nil {
			ids = append(ids, id)
		}
	}
	if known = t.Above.ChainsIn(read, ids); known == nil {
		return hit, nil, false
	}
	if !t.IsLeaf() {
		known[n.ID] = n
	}
	return plan.Hits{Live: map[any]*table.Node{n.ID: n}, Recalled: true}, known, true
}
