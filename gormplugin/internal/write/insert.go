package write

import (
	"errors"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/hold"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// inserting is an INSERT.
type inserting struct {
	*Planner
	// seen are the rows that the survey found before the transaction, by id.
	seen map[any]*table.Node
	// keyless are the new rows whose path of ids waits for the key that the database gives them.
	keyless []*arrival
	// columns undoes what the plugin has changed of the columns that the statement writes; nil if
	// nothing.
	columns func()
	tops    TopCheck
}

// Survey takes the locks on the slots that can be told before the transaction. A parent that
// is not there (yet), or a name that no row can have, is left for the guard to judge, as hooks and
// associations have their say in between.
func (k *inserting) Survey(db *gorm.DB, st *statement.Statement) (bool, error) {
	st.Note = "insert into " + st.Table.TableName
	rows, err := arrivals(db, st.Table)
	if err != nil {
		return false, err
	}
	if isUpsert(db) {
		if stay, err := k.settleUpsert(db, st.Table, rows, ""); err != nil || stay {
			return false, err
		}
	}
	if k.seen, err = k.parentsOf(db, st.Table, rows, nil, ""); err != nil {
		return false, err
	}
	wanted := make(hold.Claims)
	for _, row := range rows {
		if err := place(st.Table, row, rows, k.seen); err == nil {
			wanted.Add(row.at.Tree, row.at.Path)
		}
	}
	return true, k.AcquireEarly(db, &st.Held, wanted)
}

// Write carries out the INSERT: it gives every row its path, asserts that its parent is, and stays,
// where the path says, has the rows written, and fills in paths of ids.
func (k *inserting) Write(w *statement.Writing) error {
	if !w.DB.Statement.Unscoped {
		if err := w.Apply(w.DB.Statement.Schema.CreateClauses); err != nil {
			return err
		}
	}
	if err := w.Begin(); err != nil {
		return err
	}
	rows, err := k.guardCreate(w.DB, w.Tx, w.St)
	if err != nil {
		return err
	}
	if w.Write(w.DB); w.DB.Error != nil {
		return w.DB.Error
	}
	if written := w.DB.RowsAffected; rows > 0 && written != int64(rows) {
		return w.Missed(int64(rows), written)
	}
	return k.fillIDs(w.DB, w.Tx, w.St)
}

// Explain finds out whether a unique index has refused a row that the rule for the top would have
// refused, too.
func (k *inserting) Explain(db *gorm.DB, st *statement.Statement) {
	k.explainTop(db, st.Table, &k.tops)
}

// End gives the statement back the columns that it selects and omits.
func (k *inserting) End(*gorm.DB) {
	if k.columns != nil {
		k.columns()
	}
}

// guardCreate gives every row its path, and asserts that its parent is, and stays, where the path
// says. It returns how many rows there are to be inserted: none, where the statement is an upsert
// of rows that are there.
func (k *inserting) guardCreate(db *gorm.DB, tx *txn.Transaction, st *statement.Statement) (int, error) {
	t := st.Table
	st.Note = "insert into " + t.TableName
	rows, err := arrivals(db, t)
	if err != nil {
		return 0, err
	}
	if isUpsert(db) {
		stay, err := k.settleUpsert(db, t, rows, k.Dialect.Update)
		if err != nil {
			return 0, err
		}
		if stay {
			for _, row := range rows {
				if err := errors.Join(restate(t, row), row.settleParent()); err != nil {
					return 0, err
				}
			}
			return 0, nil
		}
		delete(db.Statement.Clauses, conflictClause)
		st.Absent = true
	}
	if k.columns, err = selectPlace(t, db.Statement, rows); err != nil {
		return 0, err
	}
	if !table.IsWritten(db.Statement, t.Key) {
		for _, row := range rows {
			if row.ID != nil && t.HasIDs() {
				return 0, t.Unsupported("a row that states a key and leaves it out (by Select or Omit) does not say which it was given, which its path of ids needs")
			}
			row.ID = nil // the database makes its own
		}
	}
	if err := k.settle(db, tx, st, rows); err != nil {
		return 0, err
	}
	if err := k.GuardTop(db, st, &k.tops, landingsOf(t, rows)); err != nil {
		return 0, err
	}
	taken := make(map[pathlock.Location]bool, len(rows))
	for _, row := range rows {
		if taken[row.at] {
			return 0, &fault.NameTakenError{Table: t.TableName, Tree: row.at.Tree, Path: row.at.Path}
		}
		taken[row.at] = true
		st.Slots = append(st.Slots, row.at)
		if err := errors.Join(row.Settle(t.Name), row.Settle(t.Parent), row.settleParent()); err != nil {
			return 0, err
		}
		if row.ID == nil && t.HasIDs() {
			if row.Pairs != nil {
				return 0, t.Unsupported("GORM does not say which key a row in a map was given, which its path of ids needs: use a struct, or state the key")
			}
			k.keyless = append(k.keyless, row)
		}
		if err := errors.Join(row.settleMarks(), store(t, row, st.Fence)); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// settle finds the rows' places and locks them.
func (k *inserting) settle(db *gorm.DB, tx *txn.Transaction, st *statement.Statement, rows []*arrival) error {
	t := st.Table
	_, err := hold.Settle(k.Keeper, db, tx, &st.Held, hold.Rounds[*placement]{
		Plan: func(locking bool) (*placement, error) {
			if locking {
				return k.placeAll(db, t, rows, nil, k.Dialect.Share)
			}
			return k.placeAll(db, t, rows, k.seen, "")
		},
		Needs: func(x *placement) hold.Demand { return x.claims },
		Assert: func(x *placement) (*placement, error) {
			_, err := k.LockChains(db, t.Above, x.parentsOf(rows), x.parents)
			return x, err
		},
		Stale: func(err error) bool { return errors.Is(err, pathlock.ErrNotFound) },
		Moved: hold.HasMoved,
	})
	return err
}
