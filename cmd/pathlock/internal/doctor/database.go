package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/treeschema"
)

// Database examines a database with trees, and calls it about. Without a table, it examines the
// server alone.
func Database(ctx context.Context, db *sql.DB, dialect fsck.Dialect, about string, table *fsck.Table, opts Options) (Report, error) {
	e := newExam(opts)
	e.database(ctx, db, dialect, about, table)
	return Report{e.findings}, ctx.Err()
}

func (e *exam) database(ctx context.Context, db *sql.DB, of fsck.Dialect, about string, table *fsck.Table) {
	if err := e.ask(ctx, db.PingContext); err != nil {
		e.found(Problem, about, answerCheck, fmt.Sprintf("the database does not answer: %v", err), "nothing can be read or written", "see that the server runs, and that the URL, the user and the password are right")
		return
	}
	dialect := map[fsck.Dialect]string{fsck.MySQL: "mysql", fsck.PostgreSQL: "postgres", fsck.SQLite: "sqlite"}[of]
	e.server(ctx, db, about, dialect)
	e.settings(ctx, db, about, dialect)
	if table == nil {
		return
	}
	var columns []*sql.ColumnType
	if err := e.ask(ctx, func(ctx context.Context) (err error) {
		if _, err = fsck.New(ctx, db, of, *table); err == nil {
			columns, err = columnsOf(ctx, db, dialect, table.Table)
		}
		return err
	}); err != nil {
		e.found(Problem, table.Table, "table", err.Error(), "nothing more of the table can be examined", "see that the table and its columns are named right, by --table, --key, --deleted and so on")
		return
	}
	shape := shapeOf(dialect, *table, columns)
	var found []treeschema.Finding
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		found, err = treeschema.Tables(ctx, db, dialect, []treeschema.Table{shape})
		return err
	})
	if err != nil {
		e.unknown(table.Table, "schema", err, "")
	}
	for _, f := range found {
		e.schema(table.Table, f)
	}
	if err == nil && len(found) == 0 {
		e.fine(table.Table, "schema", "the table has the indexes and types that trees need")
	}
	e.writable(ctx, db, dialect, shape)
}

// columnsOf returns the columns of a table.
func columnsOf(ctx context.Context, db *sql.DB, dialect, table string) ([]*sql.ColumnType, error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+quoted(dialect, table)+" WHERE 1 = 0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.ColumnTypes()
	return columns, errors.Join(err, rows.Err())
}

// shapeOf describes a table as package treeschema takes it. The types of the columns say which are
// texts, and what a deletion mark is in a live row.
func shapeOf(dialect string, t fsck.Table, columns []*sql.ColumnType) treeschema.Table {
	shape := treeschema.Table{Table: t.Table, Key: []string{t.Key}, Tree: t.Tree, Parent: t.Parent, Name: treeschema.Text{Column: t.Name}}
	for _, path := range []treeschema.Text{{Column: t.Path}, {Column: t.IDPath, OfIDs: true}} {
		if path.Column != "" {
			shape.Paths = append(shape.Paths, path)
		}
	}
	if t.Version != "" {
		shape.Others = append(shape.Others, t.Version)
	}
	types := make(map[string]*sql.ColumnType)
	for _, c := range columns {
		types[strings.ToLower(c.Name())] = c
	}
	for _, column := range []string{t.Tree, t.Parent, t.Key} {
		if c := types[strings.ToLower(column)]; c != nil && isText(c) {
			shape.Keys = append(shape.Keys, treeschema.Text{Column: column})
		}
	}
	if t.Deleted != "" {
		shape.Marks = []treeschema.Mark{markOf(dialect, t.Deleted, types[strings.ToLower(t.Deleted)])}
	}
	return shape
}

// isText reports whether a column holds text.
func isText(c *sql.ColumnType) bool {
	name := strings.ToUpper(c.DatabaseTypeName())
	return slices.ContainsFunc([]string{"CHAR", "TEXT", "CLOB"}, func(kind string) bool { return strings.Contains(name, kind) })
}

// markOf describes the column that marks a row as deleted: a flag or a number is 0 in a live row,
// and anything else NULL.
func markOf(dialect, column string, c *sql.ColumnType) treeschema.Mark {
	mark := treeschema.Mark{Column: column, Live: "NULL"}
	if c == nil {
		return mark
	}
	name := strings.ToUpper(c.DatabaseTypeName())
	nullable, known := c.Nullable()
	switch {
	case strings.HasPrefix(name, "BOOL") && dialect == "postgres":
		mark.Live, mark.Flag = "false", true
	case strings.HasPrefix(name, "BOOL"), strings.HasPrefix(name, "TINYINT"):
		mark.Live, mark.Flag = "0", true
	case strings.Contains(name, "INT") && known && !nullable:
		mark.Live = "0"
	}
	return mark
}

// writable tries, with the user's rights, to lock, change and delete rows of a table: none, because
// the condition holds for no row.
func (e *exam) writable(ctx context.Context, db *sql.DB, dialect string, t treeschema.Table) {
	table, name := quoted(dialect, t.Table), quoted(dialect, t.Name.Column)
	statements := []string{
		"UPDATE " + table + " SET " + name + " = " + name + " WHERE 1 = 0",
		"DELETE FROM " + table + " WHERE 1 = 0",
	}
	if dialect != "sqlite" {
		statements = append([]string{"SELECT " + name + " FROM " + table + " WHERE 1 = 0 FOR UPDATE"}, statements...)
	}
	err := e.ask(ctx, func(ctx context.Context) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
	if err != nil {
		e.found(Problem, t.Table, "writes", err.Error(), "a program with this user cannot change the tree", "grant SELECT, INSERT, UPDATE and DELETE on the table; connect to the primary")
		return
	}
	e.fine(t.Table, "writes", "rows can be locked, changed and deleted")
}

// quoted quotes a name such as suites or schema.suites.
func quoted(dialect, name string) string {
	mark := `"`
	if dialect == "mysql" {
		mark = "`"
	}
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = mark + strings.ReplaceAll(part, mark, mark+mark) + mark
	}
	return strings.Join(parts, ".")
}
