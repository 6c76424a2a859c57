package doctor

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/fsck"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/store/anystore"
)

// database examines the database with trees.
func (e *exam) database(ctx context.Context) {
	const about = "the database"
	db, table := e.DB, e.Table
	if err := Within(ctx, e.Patience, db.PingContext); err != nil {
		e.found(Problem, about, answerCheck, fmt.Sprintf("the database %s: %v", anystore.Trouble(err), err), "nothing can be read or written", "check that the server runs, and that the URL, its TLS, the user and the password are right")
		return
	}
	d, _ := dialect.Of(e.Dialect) // by which DB was opened
	e.server(ctx, db, about, d, false)
	e.settings(ctx, db, about, d)
	e.pooler(ctx, db, about, d, "session settings, such as those by SET, do not last until the next transaction", !e.Nameless)
	if table == nil {
		return
	}
	there, err := answer(ctx, e, func(ctx context.Context) (there treeschema.Present, err error) {
		if _, err = fsck.New(ctx, db, e.Dialect, *table); err != nil {
			return there, err
		}
		return treeschema.Look(ctx, db, d, table.Table)
	})
	if err != nil {
		e.found(Problem, table.Table, "table", err.Error(), "nothing more of the table can be examined", "check the names of the table and its columns: --table, --key, --deleted and so on")
		return
	}
	model := ModelOf(d, *table, there.Columns)
	found, err := answer(ctx, e, func(ctx context.Context) ([]treeschema.Finding, error) {
		return treeschema.Tables(ctx, db, d, []treeschema.Model{model})
	})
	switch {
	case err != nil:
		e.unknown(table.Table, "schema", err, "")
	case len(found) == 0:
		e.fine(table.Table, "schema", "the table has the indexes and types that trees need")
	}
	for _, f := range found {
		e.schema(table.Table, f)
	}
	e.writable(ctx, db, d, model)
}

// ModelOf describes a table as package treeschema takes it. The types of the columns say which keys
// are texts, and what a deletion mark is in a live row.
func ModelOf(d *dialect.Dialect, t fsck.Table, columns []treeschema.Column) treeschema.Model {
	model := treeschema.Model{Table: t}
	if t.Version != "" {
		model.Others = []string{t.Version}
	}
	for _, c := range columns {
		kind := dialect.KindOf(c.Type)
		if (kind == dialect.Text || kind == dialect.UUID) && slices.Contains([]string{t.Tree, t.Parent, t.Key}, c.Name) {
			model.TextKeys = append(model.TextKeys, c.Name)
		}
		if c.Name == t.Deleted {
			mark := markOf(d, c.Name, kind)
			if t.DeletedWhen != "" {
				mark.When, _ = dialect.MarkLiteral(t.DeletedWhen, kind == dialect.Number) // fsck.New has taken it
			}
			model.Marks = []treeschema.Mark{mark}
		}
	}
	return model
}

// markOf describes the column that marks a row as deleted: a flag or a number is 0 in a live row,
// a text "" or "0", and anything else NULL.
func markOf(d *dialect.Dialect, column string, kind dialect.ColumnKind) treeschema.Mark {
	switch {
	case kind == dialect.Bool:
		return treeschema.Mark{Column: column, Live: "false"}
	case kind == dialect.Number, kind == dialect.Bits && d == dialect.MySQL:
		return treeschema.Mark{Column: column, Live: "0"}
	case kind == dialect.Text:
		return treeschema.Mark{Column: column, Live: "''", OrNull: true}
	default:
		return treeschema.Mark{Column: column, Live: "NULL"}
	}
}

// writable tries, with the user's rights, to lock, change, delete and create rows of a table: none,
// because the condition holds for no row. MySQL may still say that the new one lacks a value.
func (e *exam) writable(ctx context.Context, db *sql.DB, d *dialect.Dialect, t treeschema.Model) {
	table, parent := d.Quote(t.Table.Table), d.Quote(t.Parent)
	statements := []string{
		"UPDATE " + table + " SET " + parent + " = " + parent + " WHERE 1 = 0",
		"DELETE FROM " + table + " WHERE 1 = 0",
		"INSERT INTO " + table + " (" + parent + ") SELECT " + parent + " FROM " + table + " WHERE 1 = 0",
	}
	if d.Update != "" {
		statements = append(statements, "SELECT "+parent+" FROM "+table+" WHERE 1 = 0 "+d.Update)
	}
	err := Within(ctx, e.Patience, func(ctx context.Context) error {
		for _, statement := range statements {
			if _, err := db.ExecContext(ctx, statement); err != nil && !d.Refuses(err) {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
	if err != nil {
		e.found(Problem, t.Table.Table, "writes", err.Error(), "a program with this user cannot change the tree", "grant SELECT, INSERT, UPDATE and DELETE on the table; connect to the primary")
		return
	}
	e.fine(t.Table.Table, "writes", "rows can be created, locked, changed and deleted")
}

// same compares a lock store with the one that the programs on the database have.
func (e *exam) same(ctx context.Context, store *anystore.Store) {
	if MissingFile(store) {
		return
	}
	const check = "same store"
	about, id := store.String(), ""
	places, err := answer(ctx, e, func(ctx context.Context) (places []LockPlace, err error) {
		if places, err = LockPlaces(ctx, e.DB, e.Dialect); err == nil && len(places) > 0 {
			id, err = pathlock.New(store.Store).StoreID(ctx)
		}
		return places, err
	})
	switch {
	case err != nil:
		e.unknown(about, check, err, "")
	case len(places) == 0:
		e.found(Advice, about, check, "the programs have not recorded their lock store in the database", "a program that uses another one goes unnoticed", "have them call gormplugin.VerifyLocks when they start")
	}
	for _, p := range places {
		switch id {
		case "": // of a private store
		case p.Store:
			e.fine(about, check, fmt.Sprintf("the programs take the locks of %s here, in the namespace %s", p.Table, p.Namespace))
		default:
			e.found(Problem, about, check, "it is the lock store "+id+", and the programs take the locks of "+p.Table+" in "+p.Store, "a program with this store does not see the locks of the others",
				"give all programs one lock store; if it is this one, new or emptied, DELETE FROM pathlock_stores WHERE guarded = '"+p.Table+"'")
		}
	}
}

// LockPlace is where the programs on a database take the locks of a table, as
// gormplugin.VerifyLocks records it.
type LockPlace struct{ Table, Namespace, Store string }

// LockPlaces returns what is recorded, nothing if no program has recorded any.
func LockPlaces(ctx context.Context, db *sql.DB, of fsck.Dialect) (places []LockPlace, err error) {
	d, err := dialect.Of(of)
	if err != nil {
		return nil, err
	}
	there, err := treeschema.Look(ctx, db, d, "pathlock_stores")
	if err != nil || !there.Exists {
		return nil, err
	}
	records, err := treeschema.Ask(ctx, db, "SELECT guarded, namespace, store FROM pathlock_stores ORDER BY guarded")
	for _, r := range records {
		places = append(places, LockPlace{r["guarded"], r["namespace"], r["store"]})
	}
	return places, err
}
