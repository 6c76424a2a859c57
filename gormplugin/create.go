package gormplugin

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/shown"
	"gorm.io/gorm"
)

// arrival is a row that is about to be given a place.
type arrival struct {
	*node
	record
	// stated and statedIDs are the paths that the caller gave, "" if none.
	stated, statedIDs string
	at                site
}

// arrivals returns the rows that a Create is to insert.
func arrivals(db *gorm.DB, t *table) ([]*arrival, error) {
	records, err := t.recordsOf(db.Statement)
	if err != nil {
		return nil, err
	}
	rows := make([]*arrival, len(records))
	for i, r := range records {
		n, err := t.nodeIn(r)
		if err != nil {
			return nil, err
		}
		rows[i] = &arrival{node: n, record: r, stated: n.path, statedIDs: n.ids}
	}
	return rows, nil
}

// inserting is an INSERT.
type inserting struct {
	*planner
	// seen are the rows that the survey found before the transaction, by id.
	seen map[any]*node
	// nameless are the new rows whose path of ids waits for the key that the database gives them.
	nameless []*arrival
	// columns undoes what the plugin has changed of the columns that the statement writes; nil if
	// nothing.
	columns func()
	tops    tops
}

// survey takes the locks on the slots that can be told before the transaction. A parent that
// is not there (yet), or a name that no row can have, is left for the guard to judge, as hooks and
// associations have their say in between.
func (p *inserting) survey(db *gorm.DB, st *statement) (bool, error) {
	st.note = "insert into " + st.table.name
	rows, err := arrivals(db, st.table)
	if err != nil {
		return false, err
	}
	if isUpsert(db) {
		if stay, err := p.settleUpsert(db, st.table, rows, ""); err != nil || stay {
			return false, err
		}
	}
	if p.seen, err = p.parentsOf(db, st.table, rows, nil, ""); err != nil {
		return false, err
	}
	wanted := make(claims)
	for _, row := range rows {
		if err := st.table.place(row, rows, p.seen); err == nil {
			wanted.add(row.at.tree, row.at.path)
		}
	}
	return true, p.acquireEarly(db, &st.held, wanted)
}

// write carries out the INSERT: it gives every row its path, asserts that its parent is, and stays,
// where the path says, has the rows written, and fills in paths of ids.
func (p *inserting) write(w *writing) error {
	if !w.db.Statement.Unscoped {
		if err := w.apply(w.db.Statement.Schema.CreateClauses); err != nil {
			return err
		}
	}
	if err := w.begin(); err != nil {
		return err
	}
	rows, err := p.guardCreate(w.db, w.tx, w.st)
	if err != nil {
		return err
	}
	if w.write(w.db); w.db.Error != nil {
		return w.db.Error
	}
	if written := w.db.RowsAffected; rows > 0 && written != int64(rows) {
		return w.missed(int64(rows), written)
	}
	return p.fillIDs(w.db, w.tx, w.st)
}

// explain finds out whether a unique index has refused a row that the rule for the top would have
// refused, too.
func (p *inserting) explain(db *gorm.DB, st *statement) { p.explainTop(db, st.table, &p.tops) }

// end gives the statement back the columns that it selects and omits.
func (p *inserting) end(*gorm.DB) {
	if p.columns != nil {
		p.columns()
	}
}

// guardCreate gives every row its path, and asserts that its parent is, and stays, where the path
// says. It returns how many rows there are to be inserted: none, where the statement is an upsert
// of rows that are there.
func (p *inserting) guardCreate(db *gorm.DB, tx *txn.Transaction, st *statement) (int, error) {
	t := st.table
	st.note = "insert into " + t.name
	rows, err := arrivals(db, t)
	if err != nil {
		return 0, err
	}
	if isUpsert(db) {
		stay, err := p.settleUpsert(db, t, rows, p.Dialect.Update)
		if err != nil {
			return 0, err
		}
		if stay {
			for _, row := range rows {
				if err := errors.Join(t.keep(row), row.settleParent()); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}
		delete(db.Statement.Clauses, conflictClause)
		st.absent = true
	}
	if p.columns, err = t.selectPlace(db.Statement, rows); err != nil {
		return 0, err
	}
	if !isWritten(db.Statement, t.key) {
		for _, row := range rows {
			if row.id != nil && t.hasIDs() {
				return 0, t.unsupported("a row that states a key and leaves it out (by Select or Omit) does not say which it was given, which its path of ids needs")
			}
			row.id = nil // the database makes its own
		}
	}
	if err := p.settleCreate(db, tx, st, rows); err != nil {
		return 0, err
	}
	if err := p.guardTop(db, st, &p.tops, t.landingsOf(rows)); err != nil {
		return 0, err
	}
	taken := make(map[site]bool, len(rows))
	for _, row := range rows {
		if taken[row.at] {
			return 0, &fault.NameTakenError{Table: t.name, Tree: row.at.tree, Path: row.at.path}
		}
		taken[row.at] = true
		st.slots = append(st.slots, row.at)
		if err := errors.Join(row.settle(t.label), row.settle(t.parent), row.settleParent()); err != nil {
			return 0, err
		}
		if row.id == nil && t.hasIDs() {
			if row.pairs != nil {
				return 0, t.unsupported("GORM does not say which key a row in a map was given, which its path of ids needs: use a struct, or state the key")
			}
			p.nameless = append(p.nameless, row)
		}
		if err := errors.Join(row.settleMarks(), t.store(row, st.fence)); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// settleMarks gives a row in a map the marks of a live one, where it states none: a struct has
// them, and a mark that is NULL is none in a column in which 0 marks a live row.
func (row *arrival) settleMarks() error {
	if row.pairs == nil {
		return nil
	}
	for _, f := range row.table.deletion {
		if live := liveMark(f); live != nil && !row.states(f) {
			if err := row.set(f, live); err != nil {
				return err
			}
		}
	}
	return nil
}

// settleCreate finds the rows' places and locks them, first on what a plain read says. Where the
// assertion finds that to be out of date, which in a transaction with an old snapshot it always is,
// it does so once more on what locking reads say, now without waiting for anybody.
func (p *inserting) settleCreate(db *gorm.DB, tx *txn.Transaction, st *statement, rows []*arrival) error {
	t := st.table
	const lastRound = 1
	for round := 0; ; round++ {
		lock, wait, known := dialect.RowLock(""), p.transactionWait, p.seen
		if round == lastRound {
			lock, wait, known = p.Dialect.Share, pathlock.NoWait, nil
		}
		parents, err := p.parentsOf(db, t, rows, known, lock)
		if err != nil {
			return err
		}
		wanted := make(claims)
		err = nil
		for _, row := range rows {
			if err = t.place(row, rows, parents); err != nil {
				break
			}
			wanted.add(row.at.tree, row.at.path)
		}
		if err != nil {
			if round < lastRound && p.assert && errors.Is(err, pathlock.ErrNotFound) {
				continue
			}
			return err
		}
		if err := p.acquireWithin(db, tx, &st.held, wanted, wait); err != nil {
			return err
		}
		if !p.assert {
			return nil
		}
		var chains []*node
		for _, row := range rows {
			if parent := parents[row.parent]; parent != nil && !slices.Contains(chains, parent) {
				chains = append(chains, parent)
			}
		}
		_, err = p.lockChains(db, t.above, chains, parents)
		if err == nil || round == lastRound || !errors.Is(err, pathlock.ErrPathChanged) {
			return err
		}
	}
}

// parentsOf returns the rows that rows hang below and that are in the database: all of those known
// already, and what is missing, read with lock, or without one together with what is above.
func (p *planner) parentsOf(db *gorm.DB, t *table, rows []*arrival, known map[any]*node, lock dialect.RowLock) (map[any]*node, error) {
	parents := maps.Clone(known)
	if parents == nil {
		parents = make(map[any]*node)
	}
	missing := make(map[any]bool)
	for _, row := range rows {
		if row.parent != nil && parents[row.parent] == nil {
			missing[row.parent] = true
		}
	}
	found, err := t.above.rows(db, slices.Collect(maps.Keys(missing)), lock)
	maps.Copy(parents, found)
	return parents, err
}

// place works out where a row belongs: below a parent in the database, or below
// another row of the same statement that brings its own id.
func (t *table) place(row *arrival, rows []*arrival, parents map[any]*node) error {
	above, err := t.aboveOf(row, rows, parents, 0)
	if err != nil {
		return err
	}
	switch {
	case above == nil && t.isLeaf():
		return t.unsupported("a leaf needs a parent")
	case above != nil:
		if row.tree != nil && row.tree != above.tree && !t.isLeaf() {
			return t.unsupported("the parent %s is in the tree %s, not in %s", shown.ID(above.id), shown.ID(above.tree), shown.ID(row.tree))
		}
		row.tree = above.tree
	}
	if err := t.checkID(row.id); err != nil {
		return err
	}
	t.follow(row.node, above)
	if err := t.stated(row.id, row.stated, row.statedIDs, row.node); err != nil {
		return err
	}
	if row.at, err = t.siteOf(row.node, above == nil); err != nil {
		return err
	}
	return t.checkDepth(row.at.path)
}

// aboveOf returns the row that a row hangs below, nil for one at the top.
func (t *table) aboveOf(row *arrival, rows []*arrival, parents map[any]*node, depth int) (*node, error) {
	if row.parent == nil {
		return nil, nil
	}
	if n := parents[row.parent]; n != nil {
		return n, nil
	}
	if depth > pathlock.MaxDepth {
		return nil, fmt.Errorf("%w: %s: the new rows are each other's parents", fault.ErrWouldCycle, t.name)
	}
	for _, other := range rows {
		if t.isLeaf() || other.id == nil || other.id != row.parent {
			continue
		}
		above, err := t.aboveOf(other, rows, parents, depth+1)
		if err != nil {
			return nil, err
		}
		n := *other.node
		if above != nil {
			n.tree = above.tree
		}
		t.follow(&n, above)
		return &n, nil
	}
	return nil, fmt.Errorf("%w: %s, the parent of %q", pathlock.ErrNotFound, t.above.row(row.parent), shown.Cut(row.name))
}

// siteOf checks a row's name and path against what a tree and the columns can hold, and returns its
// place. atTop is set for a row without a parent, which may be a nameless root row.
func (t *table) siteOf(n *node, atTop bool) (site, error) {
	tree, err := t.above.treeOf(n.tree)
	if err != nil {
		return site{}, err
	}
	if n.name == "" && atTop {
		return site{tree, pathlock.Root()}, nil
	}
	above, err := pathlock.ParsePath(n.path[:max(strings.LastIndexByte(n.path, '/'), 0)])
	if err != nil {
		return site{}, err
	}
	path, err := above.Child(n.name)
	if err != nil {
		return site{}, err
	}
	return site{tree, path}, t.checkLengths(n)
}

// store writes what follows from a row's place into the row.
func (t *table) store(row *arrival, fence uint64) error {
	if t.fence != nil {
		if err := row.set(t.fence, fence); err != nil {
			return err
		}
	}
	if t.isLeaf() {
		if row.pairs != nil {
			return nil
		}
		return t.tell(row.ctx, row.row, row.path)
	}
	if err := row.set(t.tree, row.tree); err != nil {
		return err
	}
	return t.setPaths(row.record, row.node)
}
