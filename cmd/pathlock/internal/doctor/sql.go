package doctor

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/store/sqlstore"
)

// sqlFiles are the questions to databases. Each file says what it answers.
//
//go:embed sql/*.sql
var sqlFiles embed.FS

// query returns the text of a file.
func query(name string) (string, error) {
	text, err := sqlFiles.ReadFile("sql/" + name)
	return string(text), err
}

// dialectOf returns the name of a URL's dialect as GORM and treeschema have it.
func dialectOf(scheme string) string {
	if scheme == "postgresql" {
		return "postgres"
	}
	return scheme
}

// sqlLocks examines the database behind a lock store, and its tables. It reports whether locks can
// be tried out.
func (e *exam) sqlLocks(ctx context.Context, about, scheme string, store *sqlstore.Store) bool {
	db, dialect := store.DB(), dialectOf(scheme)
	if err := e.ask(ctx, db.PingContext); err != nil {
		e.unanswered(about, err)
		return false
	}
	// The store's statements are right at any isolation level, SQL mode and encoding.
	if !e.server(ctx, db, about, dialect, treeschema.Version, treeschema.Writers, treeschema.ReadOnly) {
		return false
	}
	e.settings(ctx, db, about, dialect)
	if dialect == "postgres" {
		e.pooler(ctx, db, about, "waiters in other processes are not notified; each process asks instead, every 50 ms at most")
	}
	e.databaseClock(ctx, db, about, dialect)
	e.identify(ctx, db, about, dialect)
	return e.lockTables(ctx, about, dialect, store)
}

// server adds what package treeschema finds wrong with the server and the session; all of it, or
// what the given checks find. It reports whether the server takes writes.
func (e *exam) server(ctx context.Context, db treeschema.Conn, about, dialect string, only ...treeschema.Check) bool {
	var all []treeschema.Finding
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		all, err = treeschema.Run(ctx, db, dialect, nil)
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
	level := map[treeschema.Severity]Level{treeschema.Advice: Advice, treeschema.Warning: Warning, treeschema.Unsafe: Problem}[f.Severity]
	if f.Table != "" {
		about = f.Table
	}
	e.findings = append(e.findings, Finding{
		Level: level, About: about, Check: string(f.Check), Is: f.Missing, Means: f.Why, Change: f.Advice, Statements: f.Statements,
	})
}

// lockTables checks the tables of the locks. It reports whether they can be used.
func (e *exam) lockTables(ctx context.Context, about, dialect string, store *sqlstore.Store) bool {
	if e.LookOnly {
		e.found(Unknown, about, "tables", "the tables of the locks were not looked at: that writes into them, and undoes it", "whether they are right is not known", "run the doctor without --look-only")
		return true
	}
	err := e.ask(ctx, store.Check)
	switch {
	case err == nil:
		e.fine(about, "tables", "the tables of the locks are as they have to be, and the user may write them")
		if dialect == "postgres" {
			e.logged(ctx, about, store.DB(), quoted(dialect, sqlstore.DefaultPrefix+"trees"), Warning, "a crash of the server empties it: two owners may hold the same node until the next renewal, and detached holds are gone")
		}
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

// logged finds a table of PostgreSQL that a crash empties. The name is quoted.
func (e *exam) logged(ctx context.Context, about string, db *sql.DB, name string, level Level, means string) {
	question, err := query("postgres_unlogged.sql")
	var n int
	if err == nil {
		err = e.ask(ctx, func(ctx context.Context) error { return db.QueryRowContext(ctx, question, name).Scan(&n) })
	}
	switch {
	case err != nil:
		e.unknown(about, "durability", err, "")
	case n > 0:
		e.found(level, about, "durability", name+" is an UNLOGGED table", means, "ALTER TABLE "+name+" SET LOGGED")
	}
}

// databaseClock reads the clock of a database, by which the leases go.
func (e *exam) databaseClock(ctx context.Context, db *sql.DB, about, dialect string) {
	if dialect == "sqlite" {
		return // the clock is this host's
	}
	question, err := query(dialect + "_clock.sql")
	if err == nil {
		err = e.clock(ctx, about, func(ctx context.Context) (time.Time, error) {
			var micros int64
			err := db.QueryRowContext(ctx, question).Scan(&micros)
			return time.UnixMicro(micros), err
		})
	}
	if err != nil {
		e.unknown(about, "clock", err, "")
	}
	e.judgeClocks("")
}

// settings looks at settings on which package treeschema has no opinion.
func (e *exam) settings(ctx context.Context, db *sql.DB, about, dialect string) {
	if dialect == "sqlite" {
		return
	}
	values := make(map[string]string)
	files := []string{dialect + "_settings.sql"}
	if dialect == "mysql" {
		files = append(files, "mysql_status.sql")
	}
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		for _, file := range files {
			err = errors.Join(err, readSettings(ctx, db, file, values))
		}
		return err
	})
	if err != nil {
		e.unknown(about, "settings", err, "")
		return
	}
	judge := map[string]func(*exam, string, map[string]string){"postgres": (*exam).judgePostgres, "mysql": (*exam).judgeMySQL}[dialect]
	judge(e, about, values)
	e.judgeIsolation(about, values)
}

// readSettings adds the names and values that a question answers.
func readSettings(ctx context.Context, db *sql.DB, file string, values map[string]string) error {
	question, err := query(file)
	if err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, question)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return err
		}
		values[strings.ToLower(name)] = value.String
	}
	return rows.Err()
}

// judgeIsolation names the level that transactions have by default. Where it harms, package
// treeschema has said so.
func (e *exam) judgeIsolation(about string, values map[string]string) {
	for _, name := range []string{"transaction_isolation", "tx_isolation", "default_transaction_isolation"} {
		if level := values[name]; level != "" && !slices.ContainsFunc(e.findings, func(f Finding) bool { return f.About == about && f.Check == string(treeschema.Isolation) }) {
			e.fine(about, string(treeschema.Isolation), "transactions are %s", strings.ToUpper(strings.ReplaceAll(level, "-", " ")))
		}
	}
}

func (e *exam) judgePostgres(about string, values map[string]string) {
	durable := true
	if values["fsync"] == "off" {
		durable = false
		e.found(Problem, about, "durability", "fsync is off", "a crash of the host destroys the database", "set fsync = on in postgresql.conf, and reload")
	}
	if values["synchronous_commit"] == "off" {
		durable = false
		e.found(Warning, about, "durability", "synchronous_commit is off", "a crash of the server forgets the last commits, locks and changes of trees alike", "set synchronous_commit = on")
	}
	if durable {
		e.fine(about, "durability", "fsync is on, synchronous_commit is %s", values["synchronous_commit"])
	}
	right := e.judgeTimeouts(about, values, postgresTimeouts)
	if values["idle_in_transaction_session_timeout"] == "0" {
		right = false
		e.found(Advice, about, "time-outs", "idle_in_transaction_session_timeout is 0", "a transaction whose program hangs keeps its row locks for ever", "ALTER SYSTEM SET idle_in_transaction_session_timeout = '1min', or SET it for the role, and reload")
	}
	if right {
		e.fine(about, "time-outs", "%s", shownTimeouts(values, postgresTimeouts))
	}
	e.connections(about, values["connections"], values["max_connections"])
}

func (e *exam) judgeMySQL(about string, values map[string]string) {
	flush, binlog := values["innodb_flush_log_at_trx_commit"], values["sync_binlog"]
	if flush != "1" {
		e.found(Warning, about, "durability", "innodb_flush_log_at_trx_commit is "+flush, "a crash of the host forgets the commits of the last second, locks and changes of trees alike", "SET GLOBAL innodb_flush_log_at_trx_commit = 1, and the same in my.cnf")
	} else {
		e.fine(about, "durability", "innodb_flush_log_at_trx_commit is 1, sync_binlog %s", binlog)
	}
	right := e.judgeTimeouts(about, values, mysqlTimeouts)
	if e.judgeIdleMySQL(about, values) && right {
		e.fine(about, "time-outs", "%s", shownTimeouts(values, mysqlTimeouts))
	}
	e.connections(about, values["threads_connected"], values["max_connections"])
}

// connections says how many connections are left.
func (e *exam) connections(about, open, most string) {
	var n, limit int
	if _, err := fmt.Sscan(open+" "+most, &n, &limit); err != nil || limit == 0 {
		return
	}
	is := fmt.Sprintf("%d of %d connections are open", n, limit)
	if n*5 >= limit*4 {
		e.found(Warning, about, "connections", is, "at the limit, programs cannot connect", "raise max_connections, or lower the sizes of the programs' pools")
		return
	}
	e.fine(about, "connections", "%s", is)
}

// identify notes which server it is, for a quorum.
func (e *exam) identify(ctx context.Context, db *sql.DB, about, dialect string) {
	who := about // a file
	if dialect != "sqlite" {
		question, err := query(dialect + "_identity.sql")
		if err != nil || e.ask(ctx, func(ctx context.Context) error { return db.QueryRowContext(ctx, question).Scan(&who) }) != nil {
			who = about
		}
	}
	e.identities = append(e.identities, identity{about, dialect + " " + who})
}
