package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/store/anystore"
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
		e.found(Problem, about, answerCheck, fmt.Sprintf("the database %s: %v", anystore.Trouble(err), err), "nothing can be read or written", "see that the server runs, and that the URL, its TLS, the user and the password are right")
		return
	}
	d, err := dialect.Of(of)
	if err != nil {
		e.unknown(about, "server", err, "")
		return
	}
	e.server(ctx, db, about, d)
	e.settings(ctx, db, about, d)
	e.pooler(ctx, db, about, d, "what a session was told, such as by SET, holds for no later transaction", !e.Nameless)
	if table == nil {
		return
	}
	var there treeschema.Present
	if err := e.ask(ctx, func(ctx context.Context) (err error) {
		if _, err = fsck.New(ctx, db, of, *table); err == nil {
			there, err = treeschema.Look(ctx, db, d, table.Table)
		}
		return err
	}); err != nil {
		e.found(Problem, table.Table, "table", err.Error(), "nothing more of the table can be examined", "see that the table and its columns are named right, by --table, --key, --deleted and so on")
		return
	}
	model := modelOf(*table, there.Columns)
	var found []treeschema.Finding
	err = e.ask(ctx, func(ctx context.Context) (err error) {
		found, err = treeschema.Tables(ctx, db, d, []treeschema.Model{model})
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
	e.writable(ctx, db, d, model)
}

// modelOf describes a table as package treeschema takes it. The types of the columns say what a
// deletion mark is in a live row.
func modelOf(t fsck.Table, columns []treeschema.Column) treeschema.Model {
	model := treeschema.Model{Table: t, Others: []string{t.Version}}
	if t.Version == "" {
		model.Others = nil
	}
	for _, c := range columns {
		if strings.EqualFold(c.Name, t.Deleted) {
			mark := markOf(c)
			if t.DeletedWhen != "" {
				mark.When, _ = dialect.MarkLiteral(t.DeletedWhen, dialect.KindOf(c.Type) == dialect.Number) // fsck.New has taken it
			}
			model.Marks = []treeschema.Mark{mark}
		}
	}
	return model
}

// markOf describes the column that marks a row as deleted: a flag or a number is 0 in a live row,
// a text "" or "0", and anything else NULL.
func markOf(c treeschema.Column) treeschema.Mark {
	switch typ := strings.ToLower(c.Type); {
	case typ == "boolean": // of PostgreSQL; MySQL calls it tinyint(1)
		return treeschema.Mark{Column: c.Name, Live: "false"}
	case strings.HasPrefix(typ, "bool"), strings.HasPrefix(typ, "tinyint"):
		return treeschema.Mark{Column: c.Name, Live: "0"}
	case strings.Contains(typ, "int") && !bool(c.Nullable):
		return treeschema.Mark{Column: c.Name, Live: "0"}
	case dialect.KindOf(typ) == dialect.Text:
		return treeschema.Mark{Column: c.Name, Live: "''", OrNull: true}
	default:
		return treeschema.Mark{Column: c.Name, Live: "NULL"}
	}
}

// writable tries, with the user's rights, to lock, change and delete rows of a table: none, because
// the condition holds for no row.
func (e *exam) writable(ctx context.Context, db *sql.DB, d *dialect.Dialect, t treeschema.Model) {
	table, parent := d.Quote(t.Table.Table), d.Quote(t.Parent)
	statements := []string{
		"UPDATE " + table + " SET " + parent + " = " + parent + " WHERE 1 = 0",
		"DELETE FROM " + table + " WHERE 1 = 0",
	}
	if d.Update != "" {
		statements = append([]string{"SELECT " + parent + " FROM " + table + " WHERE 1 = 0 " + d.Update}, statements...)
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
		e.found(Problem, t.Table.Table, "writes", err.Error(), "a program with this user cannot change the tree", "grant SELECT, INSERT, UPDATE and DELETE on the table; connect to the primary")
		return
	}
	e.fine(t.Table.Table, "writes", "rows can be locked, changed and deleted")
}
