package write

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// A tree has either one root row, and that is its only row at the top, or any number of rows at the
// top and no root row. Otherwise two rows could have one path: "/a" at the top, and "a" below the
// root row.
//
// A write that puts a row at the top asks what is in its way: the root row or, for a new root row,
// any row of the tree. Two writes that begin a tree at once have no row in common to lock. Each
// database has its own way to keep them apart:
//
//   - MySQL: the question comes after the write, and under row locks. Whichever of two asks last
//     finds the other's row and waits for its end, since a locking read stops at rows that are not
//     committed yet, at every isolation level.
//   - PostgreSQL shows no such rows. An advisory lock on the tree's top comes before the question:
//     shared for a row at the top, exclusive for a root row. At SERIALIZABLE the database itself
//     notices what a question asked of an older state has missed.
//   - SQLite has one writer at a time.

// landing is what a statement puts at the top of a tree.
type landing struct {
	tree any
	// domain is the tree's lock domain.
	domain pathlock.Tree
	// root is set for a root row.
	root bool
	// rows is how many rows the statement brings into the tree altogether, and atTop how many of
	// these are at the top.
	rows, atTop int
}

// Landings are what a statement puts at the top of trees, by tree.
type Landings map[any]*landing

// Add notes a row that comes into a tree, or to the top of it.
func (l Landings) Add(n *table.Node, domain pathlock.Tree) {
	at := l[n.Tree]
	if at == nil {
		at = &landing{tree: n.Tree, domain: domain}
		l[n.Tree] = at
	}
	at.rows++
	if n.Parent == nil {
		at.atTop++
		at.root = at.root || n.IsRoot()
	}
}

// landingsOf returns where new rows come to the top of their trees.
func landingsOf(t *table.Table, rows []*arrival) Landings {
	if t.IsLeaf() || !slices.ContainsFunc(rows, func(row *arrival) bool { return row.Parent == nil }) {
		return nil
	}
	l := make(Landings)
	for _, row := range rows {
		l.Add(row.Node, row.at.Tree)
	}
	return l
}

// atTops returns the landings that put a row at the top, in an order that is the same for
// everybody.
func (l Landings) atTops() []*landing {
	all := slices.DeleteFunc(slices.Collect(maps.Values(l)), func(at *landing) bool { return at.atTop == 0 })
	slices.SortFunc(all, func(a, b *landing) int { return cmp.Compare(a.domain.ID(), b.domain.ID()) })
	return all
}

// TopCheck has the landings that [Planner.SettleTop] checks again after the write; none where the
// database needs no second check.
type TopCheck struct{ asked []*landing }

// GuardTop refuses rows that a statement is about to put at the top of trees where something is in
// their way. What it cannot rule out yet, it leaves to [Planner.SettleTop].
func (p *Planner) GuardTop(db *gorm.DB, st *statement.Statement, x *TopCheck, l Landings) error {
	t := st.Table
	for _, at := range l.atTops() {
		if at.root && at.atTop > 1 {
			return &fault.RootRowError{Table: t.TableName, Tree: at.domain}
		}
		later := p.Asserts && p.Dialect.AsksLater
		if later {
			x.asked = append(x.asked, at)
			if st.Begun != nil {
				// A refusal after the write costs nothing but the statement's own transaction.
				continue
			}
		}
		if p.Asserts && p.Dialect.LockTop != nil {
			if err := p.lockTop(db, t, at); err != nil {
				return err
			}
		}
		rowLock := p.Dialect.Share
		if !p.Asserts || later {
			rowLock = ""
		}
		if err := checkTop(t, db, at, 0, rowLock); err != nil {
			if !later || !errors.Is(err, fault.ErrRootRow) {
				return err
			}
			// The plain read may be of an old snapshot.
			if err := checkTop(t, db, at, 0, p.Dialect.Share); err != nil {
				return err
			}
		}
	}
	return nil
}

// SettleTop asks again after the rows are written, where the database needs that. A refusal would
// leave them in the table, so that it ends the transaction.
func (p *Planner) SettleTop(db *gorm.DB, tx *txn.Transaction, t *table.Table, x *TopCheck) error {
	for _, at := range x.asked {
		if err := checkTop(t, db, at, at.rows, p.Dialect.Share); err != nil {
			tx.Abandon(err)
			return err
		}
	}
	return nil
}

// checkTop looks for what is in the way of a landing. Beside a root row nothing can be at the top.
// A root row can only come into a tree that has no rows but the statement's own, whose number is
// given.
func checkTop(t *table.Table, db *gorm.DB, at *landing, own int, rowLock dialect.RowLock) error {
	where := clause.Expression(clause.Eq{Column: table.Column(t.Tree), Value: at.tree})
	limit := 1
	switch {
	case at.root:
		limit = own + 1
	case t.ByIDs:
		where = clause.And(where, clause.Eq{Column: table.Column(t.Parent), Value: t.NoParent()}, clause.Eq{Column: table.Column(t.Name), Value: ""})
	default:
		where = clause.And(where, clause.Eq{Column: table.Column(t.Path), Value: ""})
	}
	found, err := t.Read(db, table.Selection{Where: where, Lock: rowLock, Limit: clause.Expr{SQL: fmt.Sprintf("LIMIT %d", limit)}})
	if err != nil || len(found) < limit {
		return err
	}
	inTheWay := &fault.RootRowError{Table: t.TableName, Tree: at.domain}
	for _, n := range found {
		// Among the statement's own rows, only those at the top that are no root row are known to
		// be somebody else's.
		if own == 0 || !at.root || n.Parent == nil && !n.IsRoot() {
			inTheWay.ID, inTheWay.Root = n.ID, n.IsRoot()
		}
	}
	return inTheWay
}

// explainTop finds out whether a unique index has refused a row that the rule for the top would
// have refused, too: the rule's error says more.
func (p *Planner) explainTop(db *gorm.DB, t *table.Table, x *TopCheck) {
	if len(x.asked) == 0 || p.Dialect.Classify(db.Error) != dialect.FailureDuplicate {
		return
	}
	for _, at := range x.asked {
		if err := checkTop(t, db, at, 0, ""); errors.Is(err, fault.ErrRootRow) {
			db.Error = err
			return
		}
	}
}

// lockTop takes PostgreSQL's lock on the top of a tree, until the end of the transaction.
func (p *Planner) lockTop(db *gorm.DB, t *table.Table, at *landing) error {
	digest := fnv.New64a()
	for _, part := range []string{"pathlock top", t.TableName, at.domain.ID()} {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(part)))
		_, _ = digest.Write(length[:])
		_, _ = digest.Write([]byte(part))
	}
	d := t.Direct(db).Add("SELECT ? FROM ? AS l", p.Dialect.LockTop(int64(digest.Sum64()), at.root)...)
	var isolation string
	if err := d.One(&isolation); err != nil {
		return fmt.Errorf("gormplugin: locking the top of %s: %w", at.domain, err)
	}
	if why := p.Dialect.Refuse(isolation); why != "" {
		return fmt.Errorf("%w: a write to %s at %s", fault.ErrIsolation, t.TableName, why)
	}
	return nil
}
