package write

import (
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/statement"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
)

// fillIDs completes the paths of ids of rows that have just been inserted and were given their keys
// by the database. A failure here would leave rows without a path in the table: it ends the
// transaction.
func (k *inserting) fillIDs(db *gorm.DB, tx *txn.Transaction, st *statement.Statement) error {
	if err := k.SettleTop(db, tx, st.Table, &k.tops); err != nil {
		return err
	}
	if len(k.keyless) == 0 {
		return nil
	}
	err := k.writeIDs(db, st.Table, k.keyless)
	if err != nil {
		err = fmt.Errorf("gormplugin: writing the paths of ids: %w", err)
		if k.Dialect.Classify(err) != dialect.FailureOther {
			err = fault.Retry(err)
		}
		tx.Abandon(err)
	}
	return err
}

// writeIDs gives new rows their paths of ids, in one statement.
func (p *Planner) writeIDs(db *gorm.DB, t *table.Table, rows []*arrival) error {
	f := t.IDs
	if t.ByIDs {
		f = t.Path
	}
	for chunk := range slices.Chunk(rows, table.MaxPlaceholders/3) {
		a := new(assignment)
		ids, paths := make([]any, len(chunk)), make([]any, len(chunk))
		for i, row := range chunk {
			id, err := row.Get(t.Key)
			if err != nil {
				return err
			}
			if err := t.CheckID(id); err != nil {
				return err
			}
			path := row.Path
			if !t.ByIDs {
				path = row.IDs
			}
			ids[i], paths[i] = id, path+table.IDText(id)
			if err := row.Set(f, paths[i]); err != nil {
				return err
			}
		}
		a.replace(t, f, ids, paths, false)
		if err := t.UpdateDirect(db, f, a.set[0].Value, t.KeyIn(table.Column(t.Key), ids)); err != nil {
			return err
		}
	}
	return nil
}
