package gormplugin

import (
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// survey reads, by one plain read, the live rows that stmt hits, those with the ids in also, and
// all rows above both. It returns the rows that the statement hits and, by id, everything that was
// read. Of the rows that are hit it says whether any row hangs below them.
//
// A leaf, and a statement that may mean deleted rows, is read by itself; what is above it then is
// not known yet.
func (p *planner) survey(db *gorm.DB, t *table, stmt *gorm.Statement, also ...any) (targets, map[any]*node, error) {
	if hit, known, ok := p.recallErrand(db, t, errandOf(db), also); ok {
		return hit, known, nil
	}
	if t.isLeaf() || stmt.Unscoped {
		hit, err := p.targetsOf(db, t, stmt, nil, "")
		return hit, nil, err
	}
	d := t.source(db)
	t.addSurvey(d, t.hits(stmt, nil, ""), also)
	rows, err := t.collect(d, false, true)
	if err != nil {
		return targets{}, nil, err
	}
	hit := targets{live: make(map[any]*node), dead: make(map[any]*node)}
	known := make(map[any]*node, len(rows))
	for _, n := range rows {
		// A row that is hit and lies above another one was found twice.
		if known[n.id] == nil || n.hit {
			known[n.id] = n
		}
		if n.hit {
			hit.live[n.id] = n
		}
	}
	return hit, known, nil
}

// addSurvey writes the survey's SQL: the rows that are hit, from there up by the parents, and for
// each the columns of its place.
func (t *table) addSurvey(d *direct, hits selection, also []any) {
	name, key, parent := clause.Table{Name: t.name}, clause.Column{Name: t.key.DBName}, clause.Column{Name: t.parent.DBName}
	// UNION, unlike UNION ALL, comes to an end where rows are each other's parents.
	d.add("WITH RECURSIVE up (id, above, hit) AS (")
	chosen := hits.order != nil || hits.limit != nil
	if chosen {
		d.add("SELECT * FROM (")
	}
	d.add("SELECT ?, ?, 1 AS hit FROM ? WHERE ?", key, parent, name, t.matching(hits.where, hits.unscoped))
	for _, c := range []clause.Expression{hits.order, hits.limit} {
		if c != nil {
			d.add(" ?", c)
		}
	}
	if chosen {
		d.add(") AS chosen")
	}
	if also = slices.DeleteFunc(slices.Clone(also), func(id any) bool { return id == nil }); len(also) > 0 {
		d.add(" UNION SELECT ?, ?, 0 FROM ? WHERE ?", key, parent, name, t.keyIn(column(t.key), also))
	}
	d.add(" UNION SELECT s.?, s.?, 0 FROM ? AS s JOIN up ON s.? = up.above)", key, parent, name, key)
	d.add(" SELECT ?, up.hit = 1, CASE WHEN up.hit = 1 AND (SELECT COUNT(*) FROM up AS hits WHERE hits.hit = 1) <= ? THEN ? ELSE 1 = 0 END FROM up JOIN ? ON ? = up.id WHERE ?",
		t.list, mostAsked, t.hasChildren(), name, column(t.key), t.alive)
}

// mostAsked is of how many rows a survey asks whether others hang below them. A database that knows
// little of the table may read all of a tree for each of them. Where there are more, that is asked
// once they are locked, of many by one statement.
const mostAsked = 20

// hasChildren is the condition that a live row hangs below a row of the statement's table.
func (t *table) hasChildren() clause.Expression {
	child := func(name string) clause.Column { return clause.Column{Table: "child", Name: name} }
	return clause.Expr{SQL: "EXISTS (SELECT 1 FROM ? AS child WHERE ? = ? AND ? = ? AND ?)", Vars: []any{
		clause.Table{Name: t.name}, child(t.tree.DBName), column(t.tree), child(t.parent.DBName), column(t.key), under("child", t.alive),
	}}
}

// lockPlanned row-locks what a planned change of rows of t relies on: what is above the rows for
// sharing, as lockChains does and with the same checks, and the rows that the statement hits among
// those with the given ids for the change.
func (p *planner) lockPlanned(db *gorm.DB, t *table, stmt *gorm.Statement, chains []*node, known map[any]*node, ids []any) (locked map[any]*node, hit targets, err error) {
	if t.isLeaf() || stmt.Unscoped || len(ids) > maxPlaceholders || len(ids) == 0 {
		if locked, err = p.lockChains(db, t.above, chains, known); err != nil {
			return nil, hit, err
		}
		hit, err = p.targetsOf(db, t, stmt, ids, p.Dialect.Update)
		return locked, hit, err
	}
	hit = targets{live: make(map[any]*node), dead: make(map[any]*node)}
	c := newChains(t, chains, known, ids)
	both := t.direct(db)
	if above := c.next(); len(above) > 0 {
		both.add(p.Dialect.Both[0])
		selection{where: t.keyIn(column(t.key), above), lock: p.Dialect.Share, byPrimaryKey: true}.add(both)
		both.add(p.Dialect.Both[1])
		t.hits(stmt, ids, p.Dialect.Update).add(both)
		both.add(p.Dialect.Both[2])
	} else {
		t.hits(stmt, ids, p.Dialect.Update).add(both)
	}
	rows, err := t.collect(both, p.Dialect.Update != "", false)
	if err != nil {
		return nil, hit, err
	}
	for _, n := range rows {
		if slices.Contains(ids, n.id) {
			hit.live[n.id] = n
		}
	}
	c.found(rows)
	locked, err = p.lockRest(db, c)
	return locked, hit, err
}
