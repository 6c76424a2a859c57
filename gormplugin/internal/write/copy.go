package write

import (
	"crypto/rand"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"
)

// CopyRequest is a requested copy, and its outcome.
type CopyRequest struct {
	Table *table.Table
	// ID and Parent are in plain form; Parent is nil for the top.
	ID, Parent any
	// Name is "" if the copy gets the name of the row.
	Name     string
	Snapshot bool
	Values   map[string]any
	Leaves   []LeafCopy
	Attach   []func(tx, pairs *gorm.DB) error

	// given are the values by their columns.
	given map[*schema.Field]any

	Rows int64
	Made reflect.Value
}

// LeafCopy asks for the leaves of a model to be copied, too.
type LeafCopy struct {
	Model  any
	Values map[string]any

	table  *table.Table
	given  map[*schema.Field]any
	copies []*plan.Copied
}

// copying is a copy under way: from where to where it goes, and the rows on which that was planned.
type copying struct {
	*statement
	req *CopyRequest
	// Copy is nil until it has been planned.
	*plan.Copy
	// anchors are the nodes that must stay where they are, and known has what was read of the rows
	// above them.
	anchors []*table.Node
	known   map[any]*table.Node
	// newest is the dialect's Newest if a snapshot has a row where the top of the copy goes.
	newest string
}

// Copy makes the copy: in the transaction that db is in, or else in one of its own, which begins
// once the path locks are granted.
func (e *Engine) Copy(db *gorm.DB, req *CopyRequest) (err error) {
	s := &statement{Engine: e, DB: db, Table: req.Table, Operation: "copy", Note: "copy in " + req.Table.TableName}
	x := &copying{statement: s, req: req}
	if s.tx, err = e.TransactionOf(db); err != nil {
		return err
	}
	if s.tx != nil {
		return s.explained(x.copyWithin())
	}
	if err := x.planCopy(""); err != nil {
		return s.explained(err)
	}
	if err := s.acquire(x, 0); err != nil {
		return err
	}
	defer s.releaseUnlessBegun()
	if err := s.beginTransaction(); err != nil {
		return err
	}
	// What was given to CopyAttached may panic. After the commit, this does nothing.
	defer func() { _ = s.begun.Rollback() }()
	if err := s.explained(x.copyWithin()); err != nil {
		return err
	}
	return s.begun.Commit()
}

// copyWithin copies in a transaction: it works out where the copy goes, and locks what it relies
// on.
func (x *copying) copyWithin() error {
	x.tx.Writing.Lock()
	defer x.tx.Writing.Unlock()
	if err := x.becomeWriter(); err != nil {
		return err
	}
	err := x.planAndAssert(func(locking bool) (plan.Demand, error) {
		switch {
		case locking:
			return x, x.planCopy(x.Dialect.Share)
		case x.Copy == nil:
			return x, x.planCopy("")
		default:
			return x, nil
		}
	}, x.assertCopy)
	if err != nil {
		return err
	}
	x.slots = []nameSlot{{x.To, x.After}}
	return x.settled(x.copyRows())
}

// planCopy reads where the row is and where its copy goes.
func (x *copying) planCopy(lock string) error {
	t, req := x.Table, x.req
	x.anchors = nil
	var source, parent *table.Node
	ids := []any{req.ID}
	if t.IsLeaf {
		leaf, err := t.ByID(x.DB, ids, lock)
		if err != nil {
			return err
		}
		if source = leaf[req.ID]; source == nil {
			return t.Missing(req.ID)
		}
		ids = []any{source.Parent}
	}
	if req.Parent != nil && !slices.Contains(ids, req.Parent) {
		ids = append(ids, req.Parent)
	}
	var err error
	if x.known, err = t.Above.Rows(x.DB, nil, ids, lock); err != nil {
		return err
	}
	need := func(id any) *table.Node {
		n := x.known[id]
		switch {
		case n == nil && err == nil:
			err = t.Above.Missing(id)
		case n != nil && !slices.Contains(x.anchors, n):
			x.anchors = append(x.anchors, n)
		}
		return n
	}
	if !t.IsLeaf {
		source = need(req.ID)
	} else if above := need(source.Parent); above != nil {
		t.Follow(source, above)
	}
	if req.Parent != nil {
		parent = need(req.Parent)
	}
	if err == nil {
		x.Copy, err = t.Copy(source, parent, req.Name, req.Snapshot)
	}
	return err
}

// assertCopy row-locks the row, the new parent, and everything above both, and checks that all of
// them are where they were planned to be.
func (x *copying) assertCopy() error {
	t := x.Table
	found, err := x.lockChains(x.anchors, x.known)
	if err == nil && t.IsLeaf {
		found, err = t.ByID(x.DB, []any{x.Source.ID}, x.Dialect.Share)
	}
	if err != nil {
		return err
	}
	if n := found[x.Source.ID]; n == nil || n.Parent != x.Source.Parent || n.Name != x.Source.Name {
		return &fault.PathChangedError{Table: t.TableName, ID: x.Source.ID, Planned: x.Source.Path}
	}
	return nil
}

// keyOf and newKeyOf are the ids of a row that is copied and of its copy.
func keyOf(c *plan.Copied) any    { return c.Of.ID }
func newKeyOf(c *plan.Copied) any { return c.ID }

// insertCopies copies some rows to places below existing rows. It returns what it has written of
// their paths.
func (x *copying) insertCopies(t *table.Table, part []*plan.Copied, given map[*schema.Field]any) (paths []any, err error) {
	standIn := rand.Text()[:12]
	for i, c := range part {
		if err := t.Settle(c, nil); err != nil {
			return nil, err
		}
		path := t.PathForm.First(c.Path)
		if lacksPath(t) {
			path = t.PathForm.Print("/" + standIn + strconv.Itoa(i))
		}
		paths = append(paths, path)
	}
	ids := valuesOf(part, keyOf)
	placed := make(map[*schema.Field]any)
	place := func(f *schema.Field, values []any) {
		if f != nil {
			placed[f] = eachOf(t, f, ids, values)
		}
	}
	for f, value := range given {
		if fresh, ok := value.(func() any); ok {
			place(f, valuesOf(part, func(*plan.Copied) any { return fresh() }))
		}
	}
	place(t.Parent, valuesOf(part, func(c *plan.Copied) any { return t.ParentValue(c.Parent) }))
	for _, f := range t.Following {
		place(f.Field, valuesOf(part, func(c *plan.Copied) any { return f.Of(c.Node) }))
	}
	place(t.Path, paths)
	if top := part[0]; top.Name != top.Of.Name {
		place(t.Name, []any{top.Name})
	}
	if t.Tree != nil {
		placed[t.Tree] = typed(part[0].Tree, t.Tree)
	}
	columns, list := x.copiedColumns(t, placed, given)
	placeholders := strings.Repeat(", ?", len(list))[len(", "):]
	d := t.Direct(x.DB).Add("INSERT INTO ? (", clause.Table{Name: t.TableName}).Add(placeholders, columns...)
	d.Table, d.TableExpr = "c", nil
	d.Add(") SELECT "+placeholders, list...).Add(" FROM ? AS c "+x.Dialect.PrimaryKeyHint, clause.Table{Name: t.TableName})
	rows, err := d.Add(" WHERE ? AND ?", t.KeyIn(table.Column(t.Key), ids), t.AlsoWhere(t.Alive)).Exec()
	switch {
	case err != nil:
		return nil, fmt.Errorf("gormplugin: copying rows of %s: %w", t.TableName, err)
	case rows != int64(len(ids)):
		return nil, fault.Retryable(fmt.Errorf("gormplugin: %d of %d rows of %s were there to be copied", rows, len(ids), t.TableName))
	}
	return paths, nil
}

// copiedColumns returns the columns that a copy writes, and the values that it writes there.
func (x *copying) copiedColumns(t *table.Table, placed, given map[*schema.Field]any) (columns, list []any) {
	now := reflect.New(t.Schema.ModelType).Elem()
	for _, name := range t.Schema.DBNames {
		f := t.Schema.FieldsByDBName[name]
		decided, isOwn := placed[f]
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
			value = typed(x.Fence, f)
		case f.AutoCreateTime > 0 || f.AutoUpdateTime > 0:
			if err := f.Set(x.DB.Statement.Context, now, x.DB.NowFunc()); err != nil {
				_ = x.DB.AddError(err)
			}
			value, _ = f.ValueOf(x.DB.Statement.Context, now)
			value = typed(value, f)
		default:
			value = table.Column(f)
		}
		columns, list = append(columns, clause.Column{Name: f.DBName}), append(list, value)
	}
	return columns, list
}

// typed is a value with the type of a column, which some databases would have to guess in a SELECT.
func typed(value any, f *schema.Field) clause.Expression {
	return clause.Expr{SQL: "CASE WHEN 1 = 1 THEN ? ELSE ? END", Vars: []any{value, table.Column(f)}}
}
