package txn

import (
	"cmp"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// Own is a statement of the plugin's own. It runs on the connection, and in the transaction, of the
// statement that it serves, past GORM's callbacks. It explains its errors as they do.
type Own struct {
	*gorm.Statement
	Dialect *dialect.Dialect
}

// Query runs a statement that reads, and hands every row to take. It explains the error of whatever
// fails: the statement, the reading of a row, or the end of the rows, where a database may report a
// deadlock.
func (o Own) Query(take func(*sql.Rows) error) error {
	var rows *sql.Rows
	ask := o.ConnPool.QueryContext
	if h, ok := o.ConnPool.(*Handle); ok {
		ask = h.queryOwn
	}
	err := o.run(func(query string, vars []any) (_ int64, err error) {
		//nolint:rowserrcheck,sqlclosecheck // Both are done below, on all paths.
		rows, err = ask(o.Context, query, vars...)
		return -1, err
	})
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		err = take(rows)
	}
	if err = cmp.Or(err, rows.Err(), rows.Close()); err != nil {
		return o.explained(err)
	}
	return nil
}

// Exec runs a statement that writes, and returns how many rows it has changed.
func (o Own) Exec() (affected int64, err error) {
	NoteWrite(o.DB)
	write := o.ConnPool.ExecContext
	if h, ok := o.ConnPool.(*Handle); ok {
		write = h.execOwn
	}
	err = o.run(func(query string, vars []any) (int64, error) {
		result, err := write(o.Context, query, vars...)
		if err == nil {
			affected, err = result.RowsAffected()
		}
		return affected, err
	})
	return affected, err
}

// inlined returns the statement and its variables. Where variables would cost another round trip,
// to prepare the statement, it writes them into the SQL if all are whole numbers, as most keys are.
func (o Own) inlined() (query string, vars []any) {
	query = o.SQL.String()
	parts, text := strings.Split(query, "?"), new(strings.Builder)
	isOther := func(v any) bool { _, ok := v.(int64); return !ok }
	if !o.Dialect.PreparesVariables || o.DB.PrepareStmt || len(parts) != len(o.Vars)+1 || slices.ContainsFunc(o.Vars, isOther) {
		return query, o.Vars
	}
	for i, v := range o.Vars {
		number := strconv.FormatInt(v.(int64), 10)
		if number[0] == '-' {
			number = "(" + number + ")" // Two signs would begin a comment.
		}
		text.WriteString(parts[i])
		text.WriteString(number)
	}
	text.WriteString(parts[len(o.Vars)])
	return text.String(), nil
}

// run runs the statement, tells GORM's log about it, and explains its error.
func (o Own) run(statement func(query string, vars []any) (rows int64, err error)) error {
	if o.DB.Error != nil {
		return o.DB.Error
	}
	if o.DB.DryRun {
		return gorm.ErrDryRunModeUnsupported
	}
	began := time.Now()
	rows, err := statement(o.inlined())
	o.DB.Logger.Trace(o.Context, began, func() (string, int64) {
		return o.DB.Dialector.Explain(o.SQL.String(), o.Vars...), rows
	}, err)
	return o.explained(err)
}

// explained returns what a statement's error means to a caller. It rolls back a transaction that
// the error has ended, whatever the caller does with the error.
func (o Own) explained(err error) error {
	o.DB.Error = err
	Explain(o.Dialect, o.DB, nil)
	if err != nil && !o.Dialect.Classify(err).IsOfAnother() {
		o.DB.Error = Interrupted(o.Context, o.DB.Error)
	}
	return o.DB.Error
}
