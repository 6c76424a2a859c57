package write

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// becomeWriter keeps others from writing between the reads of the assertion and the end of the
// transaction, in databases that have no row locks. It does so by a write that touches no row. In a
// transaction that was begun IMMEDIATE that changes nothing; in one that has read an older state it
// fails as busy.
func (e *Engine) becomeWriter(db *gorm.DB, tx *txn.Transaction, t *table.Table) error {
	if !e.Dialect.SoleWriter || !e.Asserts || tx.IsWriter.Load() {
		return nil
	}
	key := clause.Column{Name: t.Key.DBName}
	err := t.UpdateDirect(db, t.Key, key, clause.Expr{SQL: "1 = 0"})
	switch {
	case err == nil:
		tx.IsWriter.Store(true)
		return nil
	case e.Dialect.Classify(err) != dialect.FailureOther:
		return fmt.Errorf("gormplugin: becoming the database's writer (begin transactions IMMEDIATE: _txlock=immediate): %w", err)
	default:
		// The table or the column is missing, or nothing can be written at all.
		return fmt.Errorf("gormplugin: writing to the table %s (AutoMigrate makes what is missing): %w", t.TableName, err)
	}
}

// held has the path locks of a statement.
type held struct {
	// Operation is what the statement does, in a word, where its context names no operation.
	Operation string
	// Note says what the statement does, to those whom its locks block.
	Note string
	// scope owns the locks that were taken before the transaction began.
	scope *pathlock.Scope
	locks []*pathlock.Lock
	// Fence is the highest fence of the locks that were taken within the transaction.
	Fence uint64
}

// origin returns ctx with the statement's operation, unless ctx is of a larger one.
func (h *held) origin(ctx context.Context) context.Context {
	if pathlock.OriginOf(ctx).Operation != "" {
		return ctx
	}
	return pathlock.WithOrigin(ctx, pathlock.Origin{Operation: h.Operation})
}

// Release releases the locks that were taken before the transaction, where it does not begin.
func (h *held) Release(ctx context.Context) { txn.Release(ctx, h.locks) }

// HandTo hands the locks to the transaction that has begun, until its end.
func (h *held) HandTo(tx *txn.Transaction) { tx.Inherit(h.scope, h.locks) }
