package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/dialect"
	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"gorm.io/gorm"
)

// endRead is the last callback of a chain that reads or runs raw SQL.
func (p *Plugin) endRead(db *gorm.DB) {
	haveRead(db.Statement.ConnPool)
	p.explain(db, nil)
}

// endRow is the last callback of the chain that hands rows over.
func (p *Plugin) endRow(db *gorm.DB) { p.explain(db, nil) }

// explain puts the error that a caller should see in the place of the database's, and ends
// a transaction that the server has ended. st is nil for statements on other tables.
func (p *Plugin) explain(db *gorm.DB, st *statement) {
	err := db.Error
	if err == nil && !p.dialect.Aborts {
		return
	}
	var tx *transaction
	if h, ok := unwrapped(db.Statement.ConnPool).(*handle); ok {
		tx = h.transaction
	}
	if tx != nil && p.dialect.Aborts {
		if done := p.explainAborted(db, tx); done {
			return
		}
		defer func() {
			// GORM's own errors stand for the server's, where it is told to translate them.
			if p.dialect.Answered(err) || errors.Is(err, gorm.ErrDuplicatedKey) || errors.Is(err, gorm.ErrForeignKeyViolated) {
				tx.abortedBy(db.Error)
			}
		}()
	}
	if err == nil {
		return
	}
	if tx != nil && errors.Is(err, sql.ErrTxDone) {
		if why := tx.failed(); why != nil {
			db.Error = why
			return
		}
	}
	kind := p.dialect.Classify(err)
	if tx != nil && (kind == dialect.FailureEnded || tx.hasEnded(err)) {
		cause := err
		if kind.IsRetryable() && !errors.Is(err, fault.ErrRetry) {
			cause = fault.Retry(err)
		}
		tx.abandon(cause)
	}
	if errors.Is(err, fault.ErrRetry) {
		return
	}
	if st == nil {
		if ctx := db.Statement.Context; ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			db.Error = interrupted(ctx, err)
		}
		return
	}
	switch {
	case kind.IsRetryable():
		db.Error = fault.Retry(err)
	case kind == dialect.FailureDuplicate, errors.Is(err, gorm.ErrDuplicatedKey):
		switch {
		case st.namesIndex(err):
			db.Error = st.nameTaken(err)
		case st.absent && st.keyTaken(err):
			// Somebody has inserted the row meanwhile: the next try finds it.
			db.Error = fault.Retry(err)
		}
	case st.table.isTooLong(err):
		db.Error = fmt.Errorf("%w: %w", fault.ErrPathTooLong, err)
	default:
		db.Error = interrupted(db.Statement.Context, err)
	}
}

// interrupted adds to a statement's error why its context has ended, if it has. Drivers tell of an
// interrupted statement, or of a connection that is of no use any more.
func interrupted(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if err == nil || cause == nil || errors.Is(err, cause) {
		return err
	}
	return fmt.Errorf("%w: %w", cause, err)
}

// explainAborted says, of a statement that was not run, because of which earlier one. It reports
// whether there is nothing else to explain.
func (p *Plugin) explainAborted(db *gorm.DB, tx *transaction) bool {
	if db.Error == nil {
		// Had there been a failure, it has been rolled back.
		if !db.DryRun {
			tx.abortedBy(nil)
		}
		return true
	}
	if _, explained := errors.AsType[*abortedError](db.Error); explained {
		return true
	}
	first := tx.whyAborted()
	if first == nil || p.dialect.Classify(db.Error) != dialect.FailureAborted {
		return false
	}
	db.Error = &abortedError{first: first, err: db.Error}
	return true
}

// nameTaken says which slot was taken, if there was only one.
func (st *statement) nameTaken(err error) error {
	taken := &fault.NameTakenError{Table: st.table.name, Err: err}
	if len(st.slots) == 1 {
		taken.Tree, taken.Path = st.slots[0].tree, st.slots[0].path
	}
	return taken
}

// namesIndex reports whether the unique index that a database's error names is one that keeps names
// or paths apart. Where the error does not tell, every index but the primary key is taken for one.
func (st *statement) namesIndex(err error) bool {
	text, t := err.Error(), st.table
	if _, columns, ok := strings.Cut(text, "UNIQUE constraint failed: "); ok && !strings.HasPrefix(columns, "index '") {
		// SQLite lists the index's columns, but names one that has an expression.
		return strings.Contains(columns, "."+t.label.DBName) || t.path != nil && strings.Contains(columns, "."+t.path.DBName)
	}
	key, ok := indexIn(text)
	if !ok {
		return len(st.slots) > 0
	}
	key = strings.TrimPrefix(key, t.name+".")
	if t.isPrimary(key) {
		return false
	}
	for _, index := range t.schema.ParseIndexes() {
		if index.Name != key {
			continue
		}
		for _, f := range index.Fields {
			if f.Field == t.label || f.Field == t.path {
				return true
			}
		}
		return false
	}
	return true
}

// keyTaken reports whether a database's error says that a row has the primary key already.
func (st *statement) keyTaken(err error) bool {
	t := st.table
	if _, columns, ok := strings.Cut(err.Error(), "UNIQUE constraint failed: "); ok {
		columns, _, _ = strings.Cut(columns, " ") // a driver may add a number
		return columns == t.name+"."+t.key.DBName
	}
	key, ok := indexIn(err.Error())
	return ok && t.isPrimary(strings.TrimPrefix(key, t.name+"."))
}

// isPrimary reports whether an index has the name that the primary key's has.
func (t *table) isPrimary(index string) bool {
	return index == "PRIMARY" || index == baseName(t.name)+"_pkey"
}

// indexIn returns the index that an error of MySQL (table.index), MariaDB (index), PostgreSQL or
// SQLite names.
func indexIn(text string) (string, bool) {
	for before, after := range map[string]string{"for key '": "'", `unique constraint "`: `"`, "failed: index '": "'"} {
		if _, rest, ok := strings.Cut(text, before); ok {
			name, _, _ := strings.Cut(rest, after)
			return name, true
		}
	}
	return "", false
}
