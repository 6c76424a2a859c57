package write

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/sqldialect"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// EndRead is the last callback of a chain that reads or runs raw SQL.
func (e *Engine) EndRead(db *gorm.DB) { e.Explain(db, nil) }

// Explain replaces the database's error by the one that a caller should see, and ends a transaction
// that the server has ended. st is nil for statements on other tables.
func (e *Engine) Explain(db *gorm.DB, st *Statement) {
	if st == nil {
		txn.Explain(e.Dialect, db, nil)
		return
	}
	txn.Explain(e.Dialect, db, func(err error, kind sqldialect.Failure) {
		if _, named := errors.AsType[*fault.NameTakenError](err); named {
			return // by a statement within this one, on an association
		}
		switch {
		case kind.IsRetryable():
			db.Error = fault.Retry(err)
		case kind == sqldialect.FailureDuplicate, errors.Is(err, gorm.ErrDuplicatedKey):
			switch {
			case st.namesIndex(err):
				db.Error = st.nameTaken(err)
			case st.Absent && st.keyTaken(err):
				// Somebody has inserted the row meanwhile; the next try finds it.
				db.Error = fault.Retry(err)
			}
		case st.Table.IsTooLong(err):
			db.Error = fmt.Errorf("%w: %w", fault.ErrPathTooLong, err)
		default:
			db.Error = txn.Interrupted(db.Statement.Context, err)
		}
	})
}

// nameTaken says which slot was taken, if there was only one.
func (st *Statement) nameTaken(err error) error {
	taken := &fault.NameTakenError{Table: st.Table.TableName, Err: err}
	if len(st.Slots) == 1 {
		taken.Tree, taken.Path = st.Slots[0].Tree, st.Slots[0].Path
	}
	return taken
}

// namesIndex reports whether the unique index in a database's error is one that keeps names or
// paths apart. Every index that the model does not describe is taken for one, apart from the
// primary key.
func (st *Statement) namesIndex(err error) bool {
	t := st.Table
	if t.Name == nil {
		return false
	}
	taken := t.Dialect.Duplicate(err)
	if len(taken.Columns) > 0 {
		return names(t, taken.Columns, t.Name) || t.Path != nil && names(t, taken.Columns, t.Path)
	}
	if taken.Index == "" {
		return len(st.Slots) > 0
	}
	if isPrimary(t, taken.Index) {
		return false
	}
	for _, index := range t.Schema.ParseIndexes() {
		if index.Name == withoutTable(t, taken.Index) {
			return slices.ContainsFunc(index.Fields, func(f schema.IndexOption) bool { return f.Field == t.Name || f.Field == t.Path })
		}
	}
	return true
}

// keyTaken reports whether a database's error says that a row has the primary key already.
func (st *Statement) keyTaken(err error) bool {
	t := st.Table
	taken := t.Dialect.Duplicate(err)
	if len(taken.Columns) > 0 {
		return len(taken.Columns) == 1 && names(t, taken.Columns, t.Key)
	}
	return isPrimary(t, taken.Index)
}

// names reports whether columns, each as table.column, have a field's column of the table.
func names(t *table.Table, columns []string, f *schema.Field) bool {
	want := table.BaseName(t.TableName) + "." + f.DBName
	return slices.ContainsFunc(columns, func(column string) bool { return strings.EqualFold(column, want) })
}

// isPrimary reports whether an index has the name that the primary key's has.
func isPrimary(t *table.Table, index string) bool {
	index = withoutTable(t, index)
	return index == "PRIMARY" || index == table.BaseName(t.TableName)+"_pkey"
}

// withoutTable returns an index's name without the table's, which MySQL puts before it.
func withoutTable(t *table.Table, index string) string {
	prefix := table.BaseName(t.TableName) + "."
	if len(index) > len(prefix) && strings.EqualFold(index[:len(prefix)], prefix) {
		return index[len(prefix):]
	}
	return index
}

// explained returns the error that a caller should see instead of err, on a db of the plugin's own:
// see [Engine.Explain].
func (e *Engine) explained(db *gorm.DB, st *Statement, err error) error {
	if err == nil {
		return nil
	}
	_ = db.AddError(err)
	e.Explain(db, st)
	return db.Error
}
