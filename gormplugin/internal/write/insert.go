package write

import (
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/plan"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
)

// inserting is an INSERT.
type inserting struct {
	*Engine
	// seen are the rows that the survey found before the transaction, by id.
	seen map[any]*table.Node
	// keyless are the new rows whose path of ids lacks the key that the database will give them.
	keyless []*arrival
	// tops are the arrivals that are checked again after the write.
	tops []*plan.TopArrival
}

// Survey takes the locks on the slots that are known before the transaction. It leaves a parent
// that is not there (yet), or a name that no row can have, to [inserting.Write]: hooks and
// associations may still change both.
func (k *inserting) Survey(db *gorm.DB, st *Statement) (bool, error) {
	rows, err := arrivals(db, st.Table)
	if err != nil {
		return false, err
	}
	wanted := make(plan.Claims)
	if isUpsert(db) {
		fresh, present, err := k.settleUpsert(db, st.Table, rows, "")
		if err != nil {
			return false, err
		}
		rows = slices.Concat(fresh, slices.DeleteFunc(present, func(row *arrival) bool { return row.from == nil }))
		for _, row := range rows[len(fresh):] {
			if at, err := st.Table.Above.Location(row.from); err == nil && !st.Table.IsLeaf {
				wanted.Add(at)
			}
		}
	}
	if len(rows) == 0 {
		return false, nil
	}
	if k.seen, err = parentsOf(db, st.Table, rows, nil, ""); err != nil {
		return false, err
	}
	all := planned(rows)
	for _, row := range all {
		row.AsRead = isUpsert(db)
		if err := st.Table.Place(row, all, k.seen); err == nil {
			wanted.Add(row.At)
		}
	}
	return true, k.acquireEarly(db, &st.pathLocks, wanted)
}

// Write carries out the INSERT: it gives every row its path, asserts that the row's parent is, and
// stays, where the path says, has GORM write the rows, and fills in paths of ids.
func (k *inserting) Write(w *writeRun) error {
	stmt := w.DB.Statement
	selects, omits := stmt.Selects, stmt.Omits
	defer func() { stmt.Selects, stmt.Omits = selects, omits }()
	if !stmt.Unscoped {
		if err := w.Apply(stmt.Schema.CreateClauses); err != nil {
			return err
		}
	}
	if err := w.ensureTransaction(); err != nil {
		return err
	}
	if isUpsert(w.DB) {
		return k.upsert(w)
	}
	return k.insert(w)
}

// insert inserts the rows of the statement.
func (k *inserting) insert(w *writeRun) error {
	rows, err := k.prepare(w.DB, w.Tx, w.St)
	if err != nil {
		return err
	}
	if w.create(); w.DB.Error != nil {
		return w.DB.Error
	}
	if planned, written := int64(len(rows)), w.DB.RowsAffected; planned > 0 && written != planned {
		return w.missed(planned, written)
	}
	if err := k.fillIDs(w.DB, w.Tx, w.St); err != nil {
		return err
	}
	var stated []any
	for _, row := range rows {
		if row.ID != nil {
			stated = append(stated, row.ID)
		}
	}
	return k.adoptLeaves(w.DB, w.Tx, w.St.Table, stated)
}

// create has GORM write the rows.
func (w *writeRun) create() { w.St.maps.note(w.write) }

// prepare gives every row its path, and asserts that the row's parent is, and stays, where the path
// says. It returns the rows.
func (k *inserting) prepare(db *gorm.DB, tx *txn.Transaction, st *Statement) ([]*arrival, error) {
	t := st.Table
	rows, err := arrivals(db, t)
	if err != nil {
		return nil, err
	}
	if err := selectPlace(t, db.Statement, rows); err != nil {
		return nil, err
	}
	if !table.IsWritten(db.Statement, t.Key) {
		for _, row := range rows {
			if row.ID != nil && t.HasIDs() {
				return nil, t.Unsupported("a row that states a key and leaves it out (by Select or Omit) does not say which it was given, which its path of ids needs")
			}
			row.ID = nil // the database makes its own
		}
	}
	if err := k.settle(db, tx, st, rows); err != nil {
		return nil, err
	}
	if k.tops, err = k.guardTop(db, t, t.TopArrivalsOf(planned(rows))); err != nil {
		return nil, err
	}
	taken := make(map[pathlock.Location]bool, len(rows))
	for _, row := range rows {
		if taken[row.At] && !t.Nameless { // two rows with one key, which the database refuses
			return nil, &fault.NameTakenError{Table: t.TableName, Tree: row.At.Tree, Path: row.At.Path}
		}
		taken[row.At] = true
		st.Slots = append(st.Slots, nameSlot{row.At, row.Tree, row.Parent, row.Name})
		if err := errors.Join(row.Settle(t.Name), row.Settle(t.Parent), row.settleParent()); err != nil {
			return nil, err
		}
		if row.ID == nil && t.HasIDs() {
			if row.Pairs != nil {
				return nil, t.Unsupported("GORM does not say which key a row in a map was given, which its path of ids needs: use a struct, or state the key")
			}
			k.keyless = append(k.keyless, row)
		}
		if err := errors.Join(row.settleMarks(), store(t, row, st.Fence)); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// settle finds the rows' places and locks them.
func (k *inserting) settle(db *gorm.DB, tx *txn.Transaction, st *Statement, rows []*arrival) error {
	t := st.Table
	for _, row := range rows {
		row.AsRead = st.Absent
	}
	var parents map[any]*table.Node
	_, err := planAndAssert(k.Engine, db, tx, &st.pathLocks, steps[*plan.Insertion]{
		Plan: func(locking bool) (_ *plan.Insertion, err error) {
			if locking {
				parents, err = parentsOf(db, t, rows, nil, k.Dialect.Share)
			} else {
				parents, err = parentsOf(db, t, rows, k.seen, "")
			}
			if err != nil {
				return nil, err
			}
			return t.Insert(planned(rows), parents)
		},
		Assert: func(x *plan.Insertion) (*plan.Insertion, error) {
			_, err := k.lockChains(db, t.Above, x.Parents, parents)
			return x, err
		},
	})
	return err
}

// fillIDs completes the paths of ids of new rows whose keys the database has made. A failure would
// leave rows without a path in the table, so that it ends the transaction.
func (k *inserting) fillIDs(db *gorm.DB, tx *txn.Transaction, st *Statement) error {
	if err := k.recheckTop(db, tx, st.Table, k.tops); err != nil {
		return err
	}
	if len(k.keyless) == 0 {
		return nil
	}
	err := k.writeIDs(db, st.Table, k.keyless)
	if err != nil {
		err = fmt.Errorf("gormplugin: writing the paths of ids: %w", err)
		if k.Dialect.Classify(err).IsOfAnother() {
			err = fault.Retryable(err)
		}
		tx.Abandon(err)
	}
	return err
}

// writeIDs gives new rows their paths of ids, in one statement.
func (e *Engine) writeIDs(db *gorm.DB, t *table.Table, rows []*arrival) error {
	f, form := t.IDs, t.IDsForm
	if t.ByIDs {
		f, form = t.Path, t.PathForm
	}
	for chunk := range slices.Chunk(rows, table.MaxPlaceholders/3) {
		ids, paths := make([]any, len(chunk)), make([]any, len(chunk))
		for i, row := range chunk {
			id, err := row.Get(t.Key)
			if err != nil {
				return err
			}
			if id == nil {
				return t.Unsupported("neither the row nor the database states the key of a new row, which its path of ids needs")
			}
			if err := t.CheckID(id); err != nil {
				return err
			}
			path := row.Path
			if !t.ByIDs {
				path = row.IDs
			}
			ids[i], paths[i] = id, form.Column(path+plan.IDText(id))
			if err := row.Set(f, paths[i]); err != nil {
				return err
			}
		}
		if err := writeEach(db, t, f, ids, paths); err != nil {
			return err
		}
	}
	return nil
}

// selectPlace makes a statement that creates rows write the columns of their place, whatever it
// selects and omits. It refuses a statement that leaves out a name or a parent, or a path
// instead, which the rows state: what it means is unclear.
func selectPlace(t *table.Table, stmt *gorm.Statement, rows []*arrival) error {
	for _, f := range t.PlaceColumns() {
		if table.IsWritten(stmt, f) {
			continue
		}
		if f == t.Name || f == t.Parent || f == t.Path {
			for _, row := range rows {
				if value, err := row.Get(f); err != nil || value != nil && (f != t.Path || row.ByPath && row.Above().Path != "") {
					return t.Unsupported("a new row's %q cannot be left out by Select or Omit", f.DBName)
				}
			}
		}
		stmt.Omits = slices.DeleteFunc(slices.Clone(stmt.Omits), func(name string) bool { return t.ColumnNamed(name) == f })
		if len(stmt.Selects) > 0 {
			stmt.Selects = append(slices.Clone(stmt.Selects), f.DBName)
		}
		if !table.IsWritten(stmt, f) {
			return t.Unsupported("a new row's %q cannot be left out by Select or Omit", f.DBName)
		}
	}
	return nil
}
