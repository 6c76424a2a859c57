package write

import (
	"reflect"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// CopyRequest is a copy that was asked for, and what became of it.
type CopyRequest struct {
	Table *table.Table
	// ID and Parent are in plain form; Parent is nil for the top.
	ID, Parent any
	// Name is "" where the copy gets the name of the row.
	Name     string
	Snapshot bool
	Values   map[string]any
	Leaves   []LeafCopy
	Attach   []func(tx, pairs *gorm.DB) error

	Rows int64
	Made reflect.Value
}

// LeafCopy asks for the leaves of a model to be copied, too.
type LeafCopy struct {
	Model  any
	Values map[string]any

	table  *table.Table
	copies []*plan.Copied
}

// Copy copies what was asked for: in the transaction that db is in, or else in one of its own,
// which begins once the path locks are granted.
func (e *Engine) Copy(db *gorm.DB, req *CopyRequest) error {
	tx, err := e.TransactionOf(db)
	if err != nil {
		return err
	}
	st := &Statement{Table: req.Table, held: held{Operation: "copy", Note: "copy in " + req.Table.TableName}}
	if tx != nil {
		return e.explained(db, st, e.copyWithin(db, tx, st, req, nil))
	}
	planned, err := e.planCopy(db, req, "")
	if err != nil {
		return e.explained(db, nil, err)
	}
	if err := e.acquireEarly(db, &st.held, planned); err != nil {
		return err
	}
	defer st.releaseUnlessBegun(db)
	if err := e.beginTransaction(db, st); err != nil {
		return err
	}
	// What was given to CopyAttached may panic. After the commit, this does nothing.
	defer func() { _ = st.Begun.Rollback() }()
	if err := e.explained(db, st, e.copyWithin(db, st.Begun.Transaction, st, req, planned)); err != nil {
		return err
	}
	return st.Begun.Commit()
}

// copyWithin copies in a transaction: it works out where the copy goes, and locks what it relies
// on. planned, unless nil, is the result of plain reads.
func (e *Engine) copyWithin(db *gorm.DB, tx *txn.Transaction, st *Statement, req *CopyRequest, planned *copying) error {
	if err := e.becomeWriter(db, tx, req.Table.Above); err != nil {
		return err
	}
	x, err := planAndAssert(e, db, tx, &st.held, steps[*copying]{
		Plan: func(locking bool) (*copying, error) {
			switch {
			case locking:
				return e.planCopy(db, req, e.Dialect.Share)
			case planned == nil:
				return e.planCopy(db, req, "")
			default:
				return planned, nil
			}
		},
		Assert: func(x *copying) (*copying, error) { return x, e.assertCopy(db, req.Table, x) },
	})
	if err != nil {
		return err
	}
	st.Slots = []nameSlot{{x.To, x.After.Tree, x.After.Parent, x.After.Name}}
	return e.copyRows(db, tx, st, req, x)
}

// copying is where a copy goes from and to, and the rows on which that was planned.
type copying struct {
	*plan.Copy
	// chains are the nodes that must stay where they are, and known has what was read of the rows
	// above them.
	chains []*table.Node
	known  map[any]*table.Node
	// written is set once there are new rows.
	written bool
}

// planCopy reads where the row is and where its copy is to be.
func (e *Engine) planCopy(db *gorm.DB, req *CopyRequest, lock string) (*copying, error) {
	t := req.Table
	x := &copying{}
	var source, parent *table.Node
	ids := []any{req.ID}
	if t.IsLeaf() {
		leaf, err := t.ByID(db, ids, lock)
		if err != nil {
			return nil, err
		}
		if source = leaf[req.ID]; source == nil {
			return nil, t.Missing(req.ID)
		}
		ids = []any{source.Parent}
	}
	if req.Parent != nil && !slices.Contains(ids, req.Parent) {
		ids = append(ids, req.Parent)
	}
	var err error
	if x.known, err = t.Above.Rows(db, nil, ids, lock); err != nil {
		return nil, err
	}
	need := func(id any) *table.Node {
		n := x.known[id]
		switch {
		case n == nil && err == nil:
			err = t.Above.Missing(id)
		case n != nil && !slices.Contains(x.chains, n):
			x.chains = append(x.chains, n)
		}
		return n
	}
	if !t.IsLeaf() {
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
	return x, err
}

// assertCopy row-locks the row, the new parent, and everything above both, and checks that all of
// them are where they were planned to be.
func (e *Engine) assertCopy(db *gorm.DB, t *table.Table, x *copying) error {
	found, err := e.lockChains(db, t.Above, x.chains, x.known)
	if err == nil && t.IsLeaf() {
		found, err = t.ByID(db, []any{x.Source.ID}, e.Dialect.Share)
	}
	if err != nil {
		return err
	}
	if n := found[x.Source.ID]; n == nil || n.Parent != x.Source.Parent || n.Name != x.Source.Name {
		return &fault.PathChangedError{Table: t.TableName, ID: x.Source.ID, Planned: x.Source.Path}
	}
	return nil
}
