package write

import (
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/sqldialect"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// One INSERT … SELECT copies the rows, and writes the new paths. It cannot know the ids that the
// database gives the new rows, and hence not their parents. A second statement finds these: it
// joins every new row with the one that has the beginning of its path. Until then every row below
// the top has a stand-in for its name: see [standIn].

// copyRows carries out a plan whose rows are locked.
func (e *Engine) copyRows(db *gorm.DB, tx *txn.Transaction, st *Statement, req *CopyRequest, x *copying) error {
	t := req.Table
	below, err := e.measureCopy(db, t, x)
	if err != nil {
		return err
	}
	names, err := standInFor(t, below)
	if err != nil {
		return err
	}
	if err := e.checkSlot(db, t, x); err != nil {
		return err
	}
	for _, l := range req.Leaves {
		leaf, err := e.TableFor(l.Model)
		if err != nil {
			return err
		}
		names := slices.DeleteFunc(slices.Clone(leaf.LeafPaths), func(p table.LeafPath) bool { return p.OfIDs }) // new ids are not known
		if err := e.checkLeaves(db, leaf, names, []plan.Move{{Node: x.Source, Path: x.After.Path}}); err != nil {
			return err
		}
	}
	l := make(plan.Landings)
	l.Add(x.After, x.To.Tree)
	tops, err := e.guardTop(db, t, l)
	if err != nil {
		return err
	}
	inserted, err := e.insertCopies(db, st, req, x, names)
	if err != nil {
		return err
	}
	if err := e.recheckTop(db, tx, t, tops); err != nil {
		return err
	}
	switch {
	case inserted == 0:
		return &fault.PathChangedError{Table: t.TableName, ID: x.Source.ID, Planned: x.Source.Path}
	case e.Asserts && inserted != below+1:
		err = fault.Retry(fmt.Errorf("gormplugin: copying %s: the subtree had %d rows, of which %d were copied", t.RowName(x.Source.ID), below+1, inserted))
	}
	if err == nil && inserted > 1 {
		err = e.adopt(db, t, x, names, inserted-1)
	}
	if err == nil && t.IDs != nil && !t.IsLeaf() {
		err = e.numberCopies(db, t, x)
	}
	if err == nil {
		err = e.fetchCopy(db, req, x)
	}
	if err == nil && t.IDs != nil && t.IsLeaf() {
		made := table.Record{Ctx: db.Statement.Context, Table: t, Row: req.Made}
		err = e.writeIDs(db, t, []*arrival{{Arrival: plan.Arrival{Node: x.After}, Record: made}})
	}
	if err != nil {
		// From the insert on, a failure leaves rows without their parents. The transaction ends
		// even if the caller ignores the error.
		if e.Dialect.Classify(err) != sqldialect.FailureOther {
			err = fault.Retry(err)
		}
		tx.Abandon(err)
		return err
	}
	req.Rows = inserted
	return e.copyAttached(db, st, req, x)
}

// measureCopy locks the rows below the row for sharing, and returns their number. It refuses a copy
// of which a path would be too long, or a row too deep.
func (e *Engine) measureCopy(db *gorm.DB, t *table.Table, x *copying) (int64, error) {
	if t.IsLeaf() {
		return 0, nil
	}
	lock := ""
	if e.Asserts {
		lock = e.Dialect.Share
	}
	length := e.Dialect.Length
	var most struct{ Count, Length, Separators int64 }
	err := t.OnPathIndex(db, func(from table.Hinted) error {
		d := t.Direct(db).Add("SELECT COUNT(*), COALESCE(MAX("+length+"(s.path)), 0), COALESCE(MAX("+countSeparators(t, "s.path")+"), 0)").
			Add(" FROM (SELECT ? AS path FROM ? WHERE ? AND ? ", table.Column(t.Path), from, t.Below(x.Source.Tree, x.Source.Path), t.Alive).
			Add(lock + ") AS s")
		return d.One(&most.Count, &most.Length, &most.Separators)
	})
	if err != nil {
		return 0, fmt.Errorf("gormplugin: measuring the paths below %q: %w", x.Source.Path, err)
	}
	if most.Count == 0 {
		return 0, nil
	}
	from, _ := t.PathForm.Below(x.Source.Path)
	to, _ := t.PathForm.Below(x.After.Path)
	longer := utf8.RuneCountInString(to) - utf8.RuneCountInString(from)
	if err := t.PathRoom.Fits(int(most.Length)+longer, to); err != nil {
		return 0, err
	}
	if depth := int(most.Separators) - t.PathForm.Separators() + x.To.Path.Depth() - x.From.Path.Depth(); depth > t.MaxDepth {
		return 0, &fault.TooDeepError{Table: t.TableName, Path: x.After.Path, Depth: depth, Limit: t.MaxDepth}
	}
	return most.Count, nil
}

// checkSlot refuses a name that is taken, even where no unique index would.
func (e *Engine) checkSlot(db *gorm.DB, t *table.Table, x *copying) error {
	taken, err := t.Read(db, table.Selection{Where: e.slot(t, x)})
	if err != nil || len(taken) == 0 {
		return err
	}
	return &fault.NameTakenError{Table: t.TableName, Tree: x.To.Tree, Path: x.To.Path}
}

// insertCopies copies the rows, those below the top without their parents and names, and returns
// their number.
func (e *Engine) insertCopies(db *gorm.DB, st *Statement, req *CopyRequest, x *copying, names standIn) (int64, error) {
	t := req.Table
	isTop := clause.Eq{Column: table.Column(t.Key), Value: x.Source.ID}
	ofTop := func(top, others any) any {
		return clause.Expr{SQL: "CASE WHEN ? THEN ? ELSE ? END", Vars: []any{isTop, top, others}}
	}
	parent := x.After.Parent
	if parent == nil {
		parent = t.NoParent()
	}
	placed := map[*schema.Field]any{}
	where := clause.Expression(isTop)
	if t.IsLeaf() {
		placed[t.Parent], placed[t.Name] = typed(parent, t.Parent), typed(x.After.Name, t.Name)
		for column, path := range map[*schema.Field]string{t.Path: table.FirstWritten(t.PathForm, x.After.Path), t.IDs: table.FirstWritten(t.IDsForm, x.After.IDs)} {
			if column != nil {
				placed[column] = typed(path, column)
			}
		}
	} else {
		placed[t.Parent] = pendingParent(t, parent, ofTop)
		placed[t.Name] = ofTop(x.After.Name, clause.Expr{SQL: e.Dialect.Numbered, Vars: []any{string(names)}})
		if t.Tree != nil {
			placed[t.Tree] = typed(x.After.Tree, t.Tree)
		}
		if t.IDs != nil {
			placed[t.IDs] = typed("", t.IDs)
		}
		placed[t.Path] = t.Rebased(t.PathForm, table.Column(t.Path), x.Source.Path, x.After.Path)
		where = t.Within(x.Source.Tree, x.Source.ID, x.Source.Path)
	}
	var rows int64
	err := t.OnPathIndex(db, func(from table.Hinted) (err error) {
		rows, err = insertFrom(t, db, from.As("c"), where, placed, req.Values, st.Fence)
		return err
	})
	return rows, err
}

// fetchCopy reads the new top row.
func (e *Engine) fetchCopy(db *gorm.DB, req *CopyRequest, x *copying) error {
	made := reflect.New(req.Table.Schema.ModelType)
	d := req.Table.Direct(db).Add("SELECT * FROM ? WHERE ? AND ?", clause.Table{Name: req.Table.TableName}, e.slot(req.Table, x), req.Table.Alive)
	if err := d.Into(made); err != nil {
		return fmt.Errorf("gormplugin: reading the copy at %q: %w", x.After.Path, err)
	}
	req.Made = made.Elem()
	return req.Table.Tell(db.Statement.Context, req.Made, x.After.Path)
}
