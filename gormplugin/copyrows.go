package gormplugin

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/gormplugin/internal/write"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// The rows are copied by one INSERT … SELECT, which writes the new paths. What it cannot know are
// the ids that the database gives the new rows, and hence their parents: these are found by a
// second statement, which joins every new row with the one that has the beginning of its path.
// Until then every row below the top has a stand-in for its name, see standInFor.

// copyRows copies what was planned, once it has been locked.
func (p *copier) copyRows(db *gorm.DB, tx *txn.Transaction, st *statement.Statement, c *copying, x *copyPlan) error {
	t := c.table
	below, err := p.measureCopy(db, t, x)
	if err != nil {
		return err
	}
	names, err := standInFor(t, below)
	if err != nil {
		return err
	}
	if err := p.checkSlot(db, t, x); err != nil {
		return err
	}
	var tops write.TopCheck
	if x.above == nil {
		l := make(write.Landings)
		l.Add(x.after, x.to.Tree)
		if err := p.GuardTop(db, st, &tops, l); err != nil {
			return err
		}
	}
	inserted, err := p.insertCopies(db, st, c, x, names)
	if err != nil {
		return err
	}
	if err := p.SettleTop(db, tx, t, &tops); err != nil {
		return err
	}
	switch {
	case inserted == 0:
		return &fault.PathChangedError{Table: t.TableName, ID: x.source.ID, Planned: x.source.Path}
	case p.Asserts && inserted != below+1:
		err = fault.Retry(fmt.Errorf("gormplugin: copying %s: the subtree had %d rows, of which %d were copied", t.RowName(x.source.ID), below+1, inserted))
	}
	if err == nil && inserted > 1 {
		err = p.adopt(db, t, x, names, inserted-1)
	}
	if err == nil && t.IDs != nil {
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
func (p *copier) measureCopy(db *gorm.DB, t *table.Table, x *copyPlan) (int64, error) {
	if t.IsLeaf() {
		return 0, nil
	}
	lock := dialect.RowLock("")
	if p.Asserts {
		lock = p.Dialect.Share
	}
	length := p.Dialect.Length
	var most struct{ Count, Length, Depth int64 }
	err := t.OnPathIndex(db, func(from table.Hinted) error {
		d := t.Direct(db).Add("SELECT COUNT(*), COALESCE(MAX("+length+"(s.path)), 0), COALESCE(MAX("+length+"(s.path) - "+length+"(REPLACE(s.path, '/', ''))), 0)").
			Add(" FROM (SELECT ? AS path FROM ? WHERE ? AND ? ", table.Column(t.Path), from, t.Below(x.source.Tree, x.source.Path), t.Alive).
			Add(string(lock) + ") AS s")
		return d.One(&most.Count, &most.Length, &most.Depth)
	})
	if err != nil {
		return 0, fmt.Errorf("gormplugin: measuring the paths below %q: %w", x.source.Path, err)
	}
	if most.Count == 0 {
		return 0, nil
	}
	longer := utf8.RuneCountInString(x.after.Path) - utf8.RuneCountInString(x.source.Path)
	if err := table.Fits(t.Path, int(most.Length)+longer, x.after.Path); err != nil {
		return 0, err
	}
	if depth := int(most.Depth) + x.to.Path.Depth() - x.from.Path.Depth(); depth > t.MaxDepth {
		return 0, &fault.TooDeepError{Table: t.TableName, Path: x.after.Path, Depth: depth, Limit: t.MaxDepth}
	}
	return most.Count, nil
}

// slot is the condition that a row is where the copy's top is to be.
func (p *copier) slot(t *table.Table, x *copyPlan) clause.Expression {
	if !t.IsLeaf() {
		return t.HasPath(x.after.Tree, x.to.Path)
	}
	return clause.And(clause.Eq{Column: table.Column(t.Parent), Value: x.after.Parent}, t.Exactly(table.Column(t.Name), x.after.Name))
}

// checkSlot refuses a name that is taken, also where no unique index would.
func (p *copier) checkSlot(db *gorm.DB, t *table.Table, x *copyPlan) error {
	taken, err := t.Read(db, table.Selection{Where: p.slot(t, x)})
	if err != nil || len(taken) == 0 {
		return err
	}
	return &fault.NameTakenError{Table: t.TableName, Tree: x.to.Tree, Path: x.to.Path}
}

// insertCopies copies the rows, those below the top without their parents and names, and returns
// how many they are.
func (p *copier) insertCopies(db *gorm.DB, st *statement.Statement, c *copying, x *copyPlan, names standIn) (int64, error) {
	t := c.table
	isTop := clause.Eq{Column: table.Column(t.Key), Value: x.source.ID}
	ofTop := func(top, others any) any {
		return clause.Expr{SQL: "CASE WHEN ? THEN ? ELSE ? END", Vars: []any{isTop, top, others}}
	}
	parent := x.after.Parent
	if parent == nil {
		parent = t.NoParent()
	}
	own := map[*schema.Field]any{}
	where := clause.Expression(isTop)
	if t.IsLeaf() {
		own[t.Parent], own[t.Name] = typed(parent, t.Parent), typed(x.after.Name, t.Name)
	} else {
		own[t.Parent] = pendingParent(t, parent, ofTop)
		own[t.Name] = ofTop(x.after.Name, clause.Expr{SQL: p.Dialect.Numbered, Vars: []any{string(names)}})
		own[t.Tree] = typed(x.after.Tree, t.Tree)
		if t.IDs != nil {
			own[t.IDs] = typed("", t.IDs)
		}
		own[t.Path] = p.Dialect.Join(x.after.Path, table.Column(t.Path), utf8.RuneCountInString(x.source.Path)+1)
		where = t.Within(x.source.Tree, x.source.ID, x.source.Path)
	}
	var rows int64
	err := t.OnPathIndex(db, func(from table.Hinted) (err error) {
		rows, err = insertFrom(t, db, from.As("c"), where, own, c.values, st.Fence)
		return err
	})
	return rows, err
}

// insertFrom runs an INSERT … SELECT of live rows of the table, called c in from, into the table,
// and returns how many they were. own are the columns that the copy decides, values those that the
// caller does.
func insertFrom(t *table.Table, db *gorm.DB, from, where clause.Expression, own map[*schema.Field]any, values map[string]any, fence uint64) (int64, error) {
	columns, list := copiedColumns(t, db, own, values, fence)
	d := t.Direct(db).Add("INSERT INTO ? (", clause.Table{Name: t.TableName})
	for i, f := range columns {
		if i > 0 {
			d.Add(", ")
		}
		d.Add("?", clause.Column{Name: f.DBName})
	}
	d.Table, d.TableExpr = "c", nil
	d.Add(") SELECT "+strings.Repeat(", ?", len(list))[len(", "):], list...).Add(" FROM ? WHERE ?", from, t.Matching(where, false))
	rows, err := d.Exec()
	if err != nil {
		return 0, fmt.Errorf("gormplugin: copying rows of %s: %w", t.TableName, err)
	}
	return rows, nil
}

// copiedColumns returns the columns that a copy writes and what it writes there.
func copiedColumns(t *table.Table, db *gorm.DB, own map[*schema.Field]any, values map[string]any, fence uint64) (columns []*schema.Field, list []any) {
	given := make(map[*schema.Field]any, len(values))
	for name, value := range values {
		given[t.Schema.LookUpField(name)] = value
	}
	now := reflect.New(t.Schema.ModelType).Elem()
	for _, name := range t.Schema.DBNames {
		f := t.Schema.FieldsByDBName[name]
		decided, isOwn := own[f]
		value, isGiven := given[f]
		switch {
		case !f.Creatable, f == t.Key && !isGiven:
			continue
		case isOwn:
			value = decided
		case isGiven:
			if _, isExpression := value.(clause.Expression); !isExpression {
				value = typed(value, f)
			}
		case f == t.Version:
			value = typed(0, f)
		case f == t.Fence:
			value = typed(fence, f)
		case f.AutoCreateTime > 0 || f.AutoUpdateTime > 0:
			if err := f.Set(db.Statement.Context, now, db.NowFunc()); err != nil {
				_ = db.AddError(err)
			}
			value, _ = f.ValueOf(db.Statement.Context, now)
			value = typed(value, f)
		default:
			value = table.Column(f)
		}
		columns, list = append(columns, f), append(list, value)
	}
	return columns, list
}

// typed is a value of the type of a column, which in a SELECT some databases would have to guess.
func typed(value any, f *schema.Field) clause.Expression {
	if p, err := table.Plain(value); err == nil && p == nil {
		return none(f)
	}
	return clause.Expr{SQL: "COALESCE(?, ?)", Vars: []any{value, table.Column(f)}}
}

// none is NULL, of the type of a column.
func none(f *schema.Field) clause.Expression {
	return clause.Expr{SQL: "NULLIF(?, ?)", Vars: []any{table.Column(f), table.Column(f)}}
}

// fetchCopy reads the new top row.
func (p *copier) fetchCopy(db *gorm.DB, c *copying, x *copyPlan) error {
	made := reflect.New(c.table.Schema.ModelType)
	d := c.table.Direct(db).Add("SELECT * FROM ? WHERE ? AND ?", clause.Table{Name: c.table.TableName}, p.slot(c.table, x), c.table.Alive)
	if err := d.Into(made); err != nil {
		return fmt.Errorf("gormplugin: reading the copy at %q: %w", x.after.Path, err)
	}
	c.made = made.Elem()
	return c.table.Tell(db.Statement.Context, c.made, x.after.Path)
}
