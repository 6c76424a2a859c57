package hold

import (
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// BecomeWriter makes sure that nobody else writes between the reads of the assertion and the end of
// the transaction, in databases that have no row locks: a write that touches no row, before the
// reads. In a transaction that was begun IMMEDIATE it changes nothing; in one that has read an
// older state it fails as busy.
func (k *Keeper) BecomeWriter(db *gorm.DB, tx *txn.Transaction, t *table.Table) error {
	if !k.Dialect.SoleWriter || !k.Asserts || tx.IsWriter.Load() {
		return nil
	}
	key := clause.Column{Name: t.Key.DBName}
	_, err := t.Direct(db).Add("UPDATE ? SET ? = ? WHERE 1 = 0", clause.Table{Name: t.TableName}, key, key).Exec()
	if err != nil && k.Dialect.Classify(err) != dialect.FailureOther {
		return fmt.Errorf("gormplugin: becoming the database's writer (begin transactions IMMEDIATE: _txlock=immediate): %w", err)
	}
	if err != nil {
		// The table or the column is missing, or nothing can be written at all.
		return fmt.Errorf("gormplugin: writing to the table %s (AutoMigrate makes what is missing): %w", t.TableName, err)
	}
	tx.IsWriter.Store(true)
	return nil
}
