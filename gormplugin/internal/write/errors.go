package write

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/fault"
	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
)

// endRead is the last callback of a chain that reads or runs raw SQL.
func (e *Engine) endRead(db *gorm.DB) {
	e.NoteRun(db)
	e.explain(db, nil)
}

// explain replaces the database's error by the one that a caller should see, and ends a transaction
// that the server has ended. st is nil for statements on other tables.
func (e *Engine) explain(db *gorm.DB, st *statement) {
	if st == nil {
		txn.Explain(e.Dialect, db, nil)
		return
	}
	txn.Explain(e.Dialect, db, func(err error, kind dialect.Failure) {
		if _, named := errors.AsType[*fault.NameTakenError](err); named {
			return // by a statement within this one, as on an association
		}
		switch {
		case kind.IsRetryable():
			db.Error = fault.Retryable(err)
		case kind == dialect.FailureDuplicate, errors.Is(err, gorm.ErrDuplicatedKey):
			taken, failed := st.takesName()
			switch {
			case failed != nil && e.Dialect.Classify(failed).IsRetryable():
				db.Error = fault.Retryable(failed) // the search for a taken name ran into a deadlock
			case taken:
				db.Error = st.nameTaken(err)
			case st.absent && st.keyTaken():
				// Somebody has inserted the row meanwhile; the next try finds it.
				db.Error = fault.Retryable(err)
			}
		case st.Table.IsTooLong(err):
			db.Error = fmt.Errorf("%w: %w", fault.ErrPathTooLong, err)
		default:
			db.Error = txn.Interrupted(db.Statement.Context, err)
		}
	})
}

// nameTaken says which slot was taken, if there was only one.
func (s *statement) nameTaken(err error) error {
	taken := &fault.NameTakenError{Table: s.Table.TableName, Err: err}
	if len(s.slots) == 1 {
		taken.Tree, taken.Path = s.slots[0].Tree, s.slots[0].Path
	}
	return taken
}

// takesName reports whether a statement's own write has failed at a unique index that keeps
// siblings' names or paths apart. If neither the error nor the model describes the index, it looks
// at the rows.
func (s *statement) takesName() (taken bool, failed error) {
	t := s.Table
	if t.Name == nil || s.cause == nil {
		return false, nil
	}
	duplicate := t.Dialect.Duplicate(s.cause)
	columns := duplicate.Columns
	if len(columns) == 0 {
		columns = indexed(t, withoutTable(t, duplicate.Index))
	}
	switch {
	case t.Path != nil && hasColumn(t, columns, t.Path), hasColumn(t, columns, t.Name) && hasColumn(t, columns, t.Parent):
		return true, nil
	case len(columns) > 0 && !hasColumn(t, columns, t.Name), isPrimary(t, duplicate.Index):
		return false, nil
	case len(columns) > 0 && slices.ContainsFunc(s.slots, func(at nameSlot) bool { return at.row.Parent == nil }):
		return true, nil // of rows at the top
	case len(columns) == 0 && treeschema.IsMadeForNames(duplicate.Index):
		return true, nil
	}
	for _, slot := range s.slots {
		if taken, failed = s.hasRow(slot); taken || failed != nil {
			break
		}
	}
	return taken, failed
}

// hasRow reports whether a slot has a row, as far as the database can be asked: after an error,
// PostgreSQL answers nothing until the transaction ends.
func (s *statement) hasRow(at nameSlot) (bool, error) {
	t := s.Table
	if s.Dialect.Aborts {
		return false, nil
	}
	is := func(f *schema.Field, value any) clause.Expression {
		return clause.Eq{Column: table.Column(f), Value: value}
	}
	where := clause.And(t.InTree(at.row.Tree), is(t.Name, at.row.Name), is(t.Parent, t.ParentValue(at.row.Parent)))
	rows, err := t.Read(s.DB, table.Selection{Where: where, Unscoped: true, Lock: s.Dialect.Share})
	return len(rows) > 0, err
}

// indexed returns the columns of a unique index that the model describes, each as table.column.
func indexed(t *table.Table, index string) (columns []string) {
	add := func(f *schema.Field) { columns = append(columns, table.BaseName(t.TableName)+"."+f.DBName) }
	if u, ok := t.Schema.ParseUniqueConstraints()[index]; ok {
		add(u.Field)
	}
	for _, i := range t.Schema.ParseIndexes() {
		if i.Name == index {
			for _, option := range i.Fields {
				add(option.Field)
			}
		}
	}
	return columns
}

// keyTaken reports whether the error of a statement's own write says that a row has the primary key
// already.
func (s *statement) keyTaken() bool {
	t := s.Table
	taken := t.Dialect.Duplicate(s.cause)
	return isPrimary(t, taken.Index) || len(taken.Columns) == 1 && hasColumn(t, taken.Columns, t.Key)
}

// hasColumn reports whether columns, each as table.column, have a field's column of the table.
func hasColumn(t *table.Table, columns []string, f *schema.Field) bool {
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

// explained returns the error that a caller should see instead of err, for a statement that
// is not GORM's: see [Engine.explain].
func (s *statement) explained(err error) error {
	if err == nil {
		return nil
	}
	s.cause = err
	s.fail(err)
	s.explain(s.DB, s)
	return s.DB.Error
}

// fail makes err the error of the statement. Where GORM translates errors, it also matches what
// GORM would make of the database's error: some translators look at an error, but not inside it.
func (s *statement) fail(err error) {
	db := s.DB
	s.cause = cmp.Or(s.cause, err)
	if translator, ok := db.Dialector.(gorm.ErrorTranslator); ok && db.TranslateError {
		for inner := err; inner != nil; inner = errors.Unwrap(inner) {
			if translated := translator.Translate(inner); !errors.Is(err, translated) {
				err = fmt.Errorf("%w: %w", translated, err)
				break
			}
		}
	}
	_ = db.AddError(err)
}
