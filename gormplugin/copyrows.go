package gormplugin

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// The rows are copied by one INSERT … SELECT, which writes the new paths. What it cannot know are
// the ids that the database gives the new rows, and hence their parents: these are found by a
// second statement, which joins every new row with the one that has the beginning of its path.
// Until then every row below the top has a stand-in for its name, see standIn.

// copyRows copies what was planned, once it has been locked.
func (p *copier) copyRows(db *gorm.DB, tx *txn.Transaction, st *statement, c *copying, x *copyPlan) error {
	t := c.table
	below, err := p.measureCopy(db, t, x)
	if err != nil {
		return err
	}
	names, err := t.standIn(below)
	if err != nil {
		return err
	}
	if err := p.checkSlot(db, t, x); err != nil {
		return err
	}
	var tops tops
	if x.above == nil {
		l := make(landings)
		l.enter(x.after, x.to.tree)
		if err := p.guardTop(db, st, &tops, l); err != nil {
			return err
		}
	}
	inserted, err := p.insertCopies(db, st, c, x, names)
	if err != nil {
		return err
	}
	if err := p.settleTop(db, tx, t, &tops); err != nil {
		return err
	}
	switch {
	case inserted == 0:
		return &fault.PathChangedError{Table: t.name, ID: x.source.id, Planned: x.source.path}
	case p.assert && inserted != below+1:
		err = fault.Retry(fmt.Errorf("gormplugin: copying %s: the subtree had %d rows, of which %d were copied", t.row(x.source.id), below+1, inserted))
	}
	if err == nil && inserted > 1 {
		err = p.adopt(db, t, x, names, inserted-1)
	}
	if err == nil && t.ids != nil {
		err = p.numberCopies(db, t, x)
	}
	if err == nil {
		err = p.fetchCopy(db, c, x)
	}
	if err != nil {
		// From the insert on, a failure leaves rows without their parents: they are not left to a
		// caller who may ignore the error.
		if p.Dialect.Classify(err) != dialect.FailureOther {
			err = fault.Retry(err)
		}
		tx.Abandon(err)
		return err
	}
	c.rows = inserted
	return p.copyAttached(db, st, c, x)
}

// measureCopy locks what lies below the row for sharing, and returns how many rows that is. It
// refuses a copy that has a path which is too long, or is too deep.
func (p *copier) measureCopy(db *gorm.DB, t *table, x *copyPlan) (int64, error) {
	if t.isLeaf() {
		return 0, nil
	}
	lock := dialect.RowLock("")
	if p.assert {
		lock = p.Dialect.Share
	}
	length := p.Dialect.Length
	var most struct{ Count, Length, Depth int64 }
	err := t.onPathIndex(db, func(from hinted) error {
		d := t.direct(db).add("SELECT COUNT(*), COALESCE(MAX("+length+"(s.path)), 0), COALESCE(MAX("+length+"(s.path) - "+length+"(REPLACE(s.path, '/', ''))), 0)").
			add(" FROM (SELECT ? AS path FROM ? WHERE ? AND ? ", column(t.path), from, p.below(t, x.source.tree, x.source.path), t.alive).
			add(string(lock) + ") AS s")
		return d.one(&most.Count, &most.Length, &most.Depth)
	})
	if err != nil {
		return 0, fmt.Errorf("gormplugin: measuring the paths below %q: %w", x.source.path, err)
	}
	if most.Count == 0 {
		return 0, nil
	}
	longer := utf8.RuneCountInString(x.after.path) - utf8.RuneCountInString(x.source.path)
	if err := fits(t.path, int(most.Length)+longer, x.after.path); err != nil {
		return 0, err
	}
	if depth := int(most.Depth) + x.to.path.Depth() - x.from.path.Depth(); depth > t.maxDepth {
		return 0, &fault.TooDeepError{Table: t.name, Path: x.after.path, Depth: depth, Limit: t.maxDepth}
	}
	return most.Count, nil
}

// slot is the condition that a row is where the copy's top is to be.
func (p *copier) slot(t *table, x *copyPlan) clause.Expression {
	if !t.isLeaf() {
		return p.at(t, x.after.tree, x.to.path)
	}
	return clause.And(clause.Eq{Column: column(t.parent), Value: x.after.parent}, p.exactly(column(t.label), x.after.name))
}

// checkSlot refuses a name that is taken, also where no unique index would.
func (p *copier) checkSlot(db *gorm.DB, t *table, x *copyPlan) error {
	taken, err := t.read(db, selection{where: p.slot(t, x)})
	if err != nil || len(taken) == 0 {
		return err
	}
	return &fault.NameTakenError{Table: t.name, Tree: x.to.tree, Path: x.to.path}
}

// insertCopies copies the rows, those below the top without their parents and names, and returns
// how many they are.
func (p *copier) insertCopies(db *gorm.DB, st *statement, c *copying, x *copyPlan, names standIn) (int64, error) {
	t := c.table
	isTop := clause.Eq{Column: column(t.key), Value: x.source.id}
	ofTop := func(top, others any) any {
		return clause.Expr{SQL: "CASE WHEN ? THEN ? ELSE ? END", Vars: []any{isTop, top, others}}
	}
	parent := x.after.parent
	if parent == nil {
		parent = t.noParent()
	}
	own := map[*schema.Field]any{}
	where := clause.Expression(isTop)
	if t.isLeaf() {
		own[t.parent], own[t.label] = typed(parent, t.parent), typed(x.after.name, t.label)
	} else {
		own[t.parent] = t.pendingParent(parent, ofTop)
		own[t.label] = ofTop(x.after.name, clause.Expr{SQL: p.Dialect.Numbered, Vars: []any{string(names)}})
		own[t.tree] = typed(x.after.tree, t.tree)
		if t.ids != nil {
			own[t.ids] = typed("", t.ids)
		}
		own[t.path] = p.Dialect.Join(x.after.path, column(t.path), utf8.RuneCountInString(x.source.path)+1)
		where = p.within(t, x.source.tree, x.source.id, x.source.path)
	}
	var rows int64
	err := t.onPathIndex(db, func(from hinted) (err error) {
		rows, err = t.insertFrom(db, from.as("c"), where, own, c.values, st.fence)
		return err
	})
	return rows, err
}

// insertFrom runs an INSERT … SELECT of live rows of the table, called c in from, into the table,
// and returns how many they were. own are the columns that the copy decides, values those that the
// caller does.
func (t *table) insertFrom(db *gorm.DB, from, where clause.Expression, own map[*schema.Field]any, values map[string]any, fence uint64) (int64, error) {
	columns, list := t.copiedColumns(db, own, values, fence)
	d := t.direct(db).add("INSERT INTO ? (", clause.Table{Name: t.name})
	for i, f := range columns {
		if i > 0 {
			d.add(", ")
		}
		d.add("?", clause.Column{Name: f.DBName})
	}
	d.Table, d.TableExpr = "c", nil
	d.add(") SELECT "+strings.Repeat(", ?", len(list))[len(", "):], list...).add(" FROM ? WHERE ?", from, t.matching(where, false))
	rows, err := d.exec()
	if err != nil {
		return 0, fmt.Errorf("gormplugin: copying rows of %s: %w", t.name, err)
	}
	return rows, nil
}

// copiedColumns returns the columns that a copy writes and what it writes there.
func (t *table) copiedColumns(db *gorm.DB, own map[*schema.Field]any, values map[string]any, fence uint64) (columns []*schema.Field, list []any) {
	given := make(map[*schema.Field]any, len(values))
	for name, value := range values {
		given[t.schema.LookUpField(name)] = value
	}
	now := reflect.New(t.schema.ModelType).Elem()
	for _, name := range t.schema.DBNames {
		f := t.schema.FieldsByDBName[name]
		decided, isOwn := own[f]
		value, isGiven := given[f]
		switch {
		case !f.Creatable, f == t.key && !isGiven:
			continue
		case isOwn:
			value = decided
		case isGiven:
			if _, isExpression := value.(clause.Expression); !isExpression {
				value = typed(value, f)
			}
		case f == t.version:
			value = typed(0, f)
		case f == t.fence:
			value = typed(fence, f)
		case f.AutoCreateTime > 0 || f.AutoUpdateTime > 0:
			if err := f.Set(db.Statement.Context, now, db.NowFunc()); err != nil {
				_ = db.AddError(err)
			}
			value, _ = f.ValueOf(db.Statement.Context, now)
			value = typed(value, f)
		default:
			value = column(f)
		}
		columns, list = append(columns, f), append(list, value)
	}
	return columns, list
}

// typed is a value of the type of a column, which in a SELECT some databases would have to guess.
func typed(value any, f *schema.Field) clause.Expression {
	if p, err := plain(value); err == nil && p == nil {
		return none(f)
	}
	return clause.Expr{SQL: "COALESCE(?, ?)", Vars: []any{value, column(f)}}
}

// none is NULL, of the type of a column.
func none(f *schema.Field) clause.Expression {
	return clause.Expr{SQL: "NULLIF(?, ?)", Vars: []any{column(f), column(f)}}
}

// fetchCopy reads the new top row.
func (p *copier) fetchCopy(db *gorm.DB, c *copying, x *copyPlan) error {
	made := reflect.New(c.table.schema.ModelType)
	d := c.table.direct(db).add("SELECT * FROM ? WHERE ? AND ?", clause.Table{Name: c.table.name}, p.slot(c.table, x), c.table.alive)
	if err := d.into(made); err != nil {
		return fmt.Errorf("gormplugin: reading the copy at %q: %w", x.after.path, err)
	}
	c.made = made.Elem()
	return c.table.tell(db.Statement.Context, c.made, x.after.path)
}
