package copying

import (
	"fmt"
	"reflect"
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

// One INSERT … SELECT copies the rows, and writes the new paths. It cannot know the ids that the
// database gives the new rows, and hence not their parents. A second statement finds these: it
// joins every new row with the one that has the beginning of its path. Until then every row below
// the top has a stand-in for its name: see [standIn].

// copyRows carries out a plan whose rows are locked.
func (c *Copier) copyRows(db *gorm.DB, tx *txn.Transaction, st *statement.Statement, req *Request, x *plan) error {
	t := req.Table
	below, err := c.measureCopy(db, t, x)
	if err != nil {
		return err
	}
	names, err := standInFor(t, below)
	if err != nil {
		return err
	}
	if err := c.checkSlot(db, t, x); err != nil {
		return err
	}
	var tops write.TopCheck
	if x.above == nil {
		l := make(write.Landings)
		l.Add(x.after, x.to.Tree)
		if err := c.GuardTop(db, st, &tops, l); err != nil {
			return err
		}
	}
	inserted, err := c.insertCopies(db, st, req, x, names)
	if err != nil {
		return err
	}
	if err := c.SettleTop(db, tx, t, &tops); err != nil {
		return err
	}
	switch {
	case inserted == 0:
		return &fault.PathChangedError{Table: t.TableName, ID: x.source.ID, Planned: x.source.Path}
	case c.Asserts && inserted != below+1:
		err = fault.Retry(fmt.Errorf("gormplugin: copying %s: the subtree had %d rows, of which %d were copied", t.RowName(x.source.ID), below+1, inserted))
	}
	if err == nil && inserted > 1 {
		err = c.adopt(db, t, x, names, inserted-1)
	}
	if err == nil && t.IDs != nil {
		err = c.numberCopies(db, t, x)
	}
	if err == nil {
		err = c.fetchCopy(db, req, x)
	}
	if err != nil {
		// From the insert on, a failure leaves rows without their parents. The transaction ends
		// even if the caller ignores the error.
		if c.Dialect.Classify(err) != dialect.FailureOther {
			err = fault.Retry(err)
		}
		tx.Abandon(err)
		return err
	}
	req.Rows = inserted
	return c.copyAttached(db, st, req, x)
}

// measureCopy locks the rows below the row for sharing, and returns their number. It refuses a copy
// of which a path would be too long, or a row too deep.
func (c *Copier) measureCopy(db *gorm.DB, t *table.Table, x *plan) (int64, error) {
	if t.IsLeaf() {
		return 0, nil
	}
	lock := dialect.RowLock("")
	if c.Asserts {
		lock = c.Dialect.Share
	}
	length := c.Dialect.Length
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

// checkSlot refuses a name that is taken, even where no unique index would.
func (c *Copier) checkSlot(db *gorm.DB, t *table.Table, x *plan) error {
	taken, err := t.Read(db, table.Selection{Where: c.slot(t, x)})
	if err != nil || len(taken) == 0 {
		return err
	}
	return &fault.NameTakenError{Table: t.TableName, Tree: x.to.Tree, Path: x.to.Path}
}

// insertCopies copies the rows, those below the top without their parents and names, and returns
// their number.
func (c *Copier) insertCopies(db *gorm.DB, st *statement.Statement, req *Request, x *plan, names standIn) (int64, error) {
	t := req.Table
	isTop := clause.Eq{Column: table.Column(t.Key), Value: x.source.ID}
	ofTop := func(top, others any) any {
		return clause.Expr{SQL: "CASE WHEN ? THEN ? ELSE ? END", Vars: []any{isTop, top, others}}
	}
	parent := x.after.Parent
	if parent == nil {
		parent = t.NoParent()
	}
	placed := map[*schema.Field]any{}
	where := clause.Expression(isTop)
	if t.IsLeaf() {
		placed[t.Parent], placed[t.Name] = typed(parent, t.Parent), typed(x.after.Name, t.Name)
	} else {
		placed[t.Parent] = pendingParent(t, parent, ofTop)
		placed[t.Name] = ofTop(x.after.Name, clause.Expr{SQL: c.Dialect.Numbered, Vars: []any{string(names)}})
		placed[t.Tree] = typed(x.after.Tree, t.Tree)
		if t.IDs != nil {
			placed[t.IDs] = typed("", t.IDs)
		}
		placed[t.Path] = c.Dialect.Join(x.after.Path, table.Column(t.Path), utf8.RuneCountInString(x.source.Path)+1)
		where = t.Within(x.source.Tree, x.source.ID, x.source.Path)
	}
	var rows int64
	err := t.OnPathIndex(db, func(from table.Hinted) (err error) {
		rows, err = insertFrom(t, db, from.As("c"), where, placed, req.Values, st.Fence)
		return err
	})
	return rows, err
}

// fetchCopy reads the new top row.
func (c *Copier) fetchCopy(db *gorm.DB, req *Request, x *plan) error {
	made := reflect.New(req.Table.Schema.ModelType)
	d := req.Table.Direct(db).Add("SELECT * FROM ? WHERE ? AND ?", clause.Table{Name: req.Table.TableName}, c.slot(req.Table, x), req.Table.Alive)
	if err := d.Into(made); err != nil {
		return fmt.Errorf("gormplugin: reading the copy at %q: %w", x.after.Path, err)
	}
	req.Made = made.Elem()
	return req.Table.Tell(db.Statement.Context, req.Made, x.after.Path)
}
