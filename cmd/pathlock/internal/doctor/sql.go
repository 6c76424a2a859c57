package doctor

import (
	"context"
	"embed"
	"errors"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// sqlFiles are the questions to databases. Each file says what it answers.
//
//go:embed sql/*.sql
var sqlFiles embed.FS

// dialectOf returns the dialect of a URL's database.
func dialectOf(scheme string) (*dialect.Dialect, error) {
	if scheme == "postgresql" {
		return dialect.PostgreSQL, nil
	}
	return dialect.Of(dialect.Name(scheme))
}

// sqlLocks examines the database behind a lock store, and its tables. It reports whether locks can
// be tried out.
func (e *exam) sqlLocks(ctx context.Context, about, scheme string, store *sqlstore.Store) bool {
	db := store.DB()
	d, err := dialectOf(scheme)
	if err != nil {
		e.unknown(about, "server", err, "")
		return false
	}
	if err := e.ask(ctx, db.PingContext); err != nil {
		e.unanswered(about, err)
		return false
	}
	// The store's statements are right at any isolation level, SQL mode and encoding.
	if !e.server(ctx, db, about, d, treeschema.Version, treeschema.Writers, treeschema.ReadOnly) {
		return false
	}
	e.settings(ctx, db, about, d)
	e.pooler(ctx, db, about, d, "no notification gets through: waiters look once in a second", false)
	return e.lockTables(ctx, about, store)
}

// server adds what package treeschema finds wrong with the server and the session; all of it, or
// what the given checks find. It reports whether the server takes writes.
func (e *exam) server(ctx context.Context, db treeschema.Conn, about string, d *dialect.Dialect, only ...treeschema.Check) bool {
	var all []treeschema.Finding
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		all, err = treeschema.Run(ctx, db, d, nil)
		return err
	})
	if err != nil {
		e.unknown(about, "server", err, "")
		return true
	}
	writable := true
	for _, f := range all {
		if len(only) > 0 && !slices.Contains(only, f.Check) {
			continue
		}
		writable = writable && f.Check != treeschema.ReadOnly
		e.schema(about, f)
	}
	for _, check := range []treeschema.Check{treeschema.Version, treeschema.ReadOnly, treeschema.Writers} {
		if !slices.ContainsFunc(all, func(f treeschema.Finding) bool { return f.Check == check }) {
			e.fine(about, string(check), "%s", map[treeschema.Check]string{
				treeschema.Version: "the server's version is supported", treeschema.ReadOnly: "the server takes writes", treeschema.Writers: "no other server is known to write, too",
			}[check])
		}
	}
	return writable
}

// schema adds a finding of package treeschema.
func (e *exam) schema(about string, f treeschema.Finding) {
	level := map[treeschema.Severity]Level{treeschema.Warning: Warning, treeschema.Unsafe: Problem}[f.Severity]
	if f.Table != "" {
		about = f.Table
	}
	e.findings = append(e.findings, Finding{
		Level: level, About: about, Check: string(f.Check), Is: f.Missing, Means: f.Why, Change: f.Advice, Statements: f.Statements,
	})
}

// lockTables checks the tables of the locks. It reports whether they can be used.
func (e *exam) lockTables(ctx context.Context, about string, store *sqlstore.Store) bool {
	err := e.ask(ctx, store.Check)
	switch {
	case err == nil:
		e.fine(about, "tables", "the tables of the locks are as they have to be, and the user may write them")
		return true
	case !errors.Is(err, sqlstore.ErrTables):
		e.unanswered(about, err)
	case strings.Contains(err.Error(), "there is no table"):
		e.found(Warning, about, "tables", "there is no table of the locks yet", "the first program that opens the store makes it, for which its user needs the right to", "start a program as a user who may create tables; thereafter, reading and writing them is enough")
	default:
		e.found(Problem, about, "tables", err.Error(), "nothing is granted", "drop the table while no program runs, and let one make it anew")
	}
	return false
}
