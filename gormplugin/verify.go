package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
	"gorm.io/gorm"
)

// ErrUnsafeSchema means that something is missing without which a tree can be broken, or nothing be
// written at all. A [*SchemaError] matches it if any of its findings is [treeschema.Unsafe].
var ErrUnsafeSchema = errors.New("gormplugin: unsafe schema")

// SchemaError is what [Verify] found, in an order in which the statements can be run.
type SchemaError struct {
	Findings []treeschema.Finding
}

// Error implements error: a line for each finding, with the statements that mend it.
func (e *SchemaError) Error() string {
	if len(e.Findings) == 1 {
		return list("gormplugin: the schema lacks something", e.Findings)
	}
	return list(fmt.Sprintf("gormplugin: the schema lacks %d things", len(e.Findings)), e.Findings)
}

// Is matches [ErrUnsafeSchema] if a finding is unsafe.
func (e *SchemaError) Is(target error) bool {
	return target == ErrUnsafeSchema && slices.ContainsFunc(e.Findings, func(f treeschema.Finding) bool { return f.Severity == treeschema.Unsafe })
}

// OneWriter says that all writes of the tree reach one server, though several could take them: a
// proxy in front of a Galera cluster sees to that, say. [Verify] believes it; without it, it finds
// such a cluster unsafe. Row locks of one server say nothing to another one, so that two servers
// can each commit half of a cycle, and no setting of the cluster changes that.
func OneWriter() Option { return func(p *Plugin) { p.oneWriter = true } }

// Verify checks that the database has what the plugin's promises rest on, for all registered
// tables: the unique indexes that keep siblings apart, indexes over tree and path, binary
// collations, columns long enough; that no foreign key, trigger, rule, policy or conflict clause
// changes the tree by itself; the server's version, strict mode, isolation level, and whether other
// servers write, too. It changes nothing and takes a few milliseconds: call it when the program
// starts. It reads no rows, but where an index keeps rows at the top apart whose parent is NULL and
// no others: there it looks for one whose parent is 0, and where a statement makes a text shorter:
// there it counts those that it would cut off, and proposes no such statement if there are any; and
// where names keep a collation that holds different ones equal, but no unique index: there it looks
// for siblings that such an index would refuse, and has advice if there are any. The settings that
// it sees are those of one connection. It judges triggers by their text, and says
// where that does not tell; with [Probing] it tries these out, and rolls back what it has written.
//
// What it finds is returned as a [*SchemaError], in which every finding comes with the statements
// that mend it, ready to be run, or with advice where no statement can. One that matches
// [ErrUnsafeSchema] should keep the program from starting; the others are for the log. A finding
// that is [treeschema.Advice] is about a second line of defence.
//
//	err := gormplugin.Verify(db)
//	if errors.Is(err, gormplugin.ErrUnsafeSchema) {
//		return err
//	}
//
// Another error means that the checks could not be made. [AutoMigrate] makes tables in which
// nothing is found.
func Verify(db *gorm.DB) error {
	p, err := pluginOf(db)
	if err != nil {
		return err
	}
	findings, err := p.findings(db, layout(p.catalogue), checkSchema(db))
	if err != nil {
		return err
	}
	if p.oneWriter {
		findings = slices.DeleteFunc(findings, func(f treeschema.Finding) bool { return f.Check == treeschema.Writers && f.Table == "" })
	}
	return schemaError(findings)
}

// schemaError returns nil where nothing was found.
func schemaError(findings []treeschema.Finding) error {
	if len(findings) == 0 {
		return nil
	}
	return &SchemaError{Findings: findings}
}

// onCatalogue runs read in the transaction that db is in, or else on one connection of its pool.
func (p *Plugin) onCatalogue(db *gorm.DB, read func(context.Context, treeschema.Conn) error) (err error) {
	ctx := db.Statement.Context
	switch on := txn.Unwrapped(db.Statement.ConnPool).(type) {
	case *txn.Handle:
		return read(ctx, on.Tx)
	case *sql.Conn:
		return read(ctx, on)
	}
	pool, err := db.DB()
	if err != nil {
		return err
	}
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return read(ctx, conn)
}

// layout says which columns form the trees, in the order in which the models were registered.
func layout(p *table.Catalogue) []treeschema.Table {
	layout := make([]treeschema.Table, 0, len(p.All))
	for _, t := range p.All {
		layout = append(layout, t.Layout())
	}
	return layout
}

// probingKey marks sessions in which Verify may write.
const probingKey = "pathlock:probing"

// Probing returns a DB on which [Verify] also tries triggers out, where their text does not tell
// what they do to a tree: SQL that is put together when it runs, a function in C, a routine whose
// text the user may not read, or triggers that the user may not see. db itself stays as it is.
//
//	err := gormplugin.Verify(gormplugin.Probing(db))
//
// A probe writes two rows of its own below a row of the table that is there, or in a tree of its
// own in an empty table: it inserts them, renames one, rewrites the other's path, moves it, and
// deletes both. After each statement it compares what the database has with what was written, and
// the places of the table's other rows with what they were. Then it rolls all of it back, whatever
// it saw.
//
// It has to be asked for, since a rollback does not undo everything: not what a trigger writes to a
// table without transactions or sends elsewhere, and not the numbers that a sequence has given it.
// On MySQL and MariaDB the table's AUTO_INCREMENT goes up by two. While it runs, some milliseconds,
// others may wait for the rows that it locks. So probe on a copy of the database, or where that is
// acceptable, such as before the program's first start. Tables without such triggers are not
// written to.
//
// Harm that shows is a finding that is [treeschema.Unsafe]; where none shows, nothing is found.
// That is no proof: a trigger may do harm to certain rows only. Where a probe cannot be carried
// out, such as for a constraint that its rows do not meet, the finding says why. Of a table with
// more than 100,000 rows only those beside the probe's own are compared, which the finding says,
// too. Triggers of other tables are not tried out.
//
// Verify cannot probe within a transaction.
func Probing(db *gorm.DB) *gorm.DB {
	return db.Set(probingKey, true).Session(&gorm.Session{})
}

// checkSchema returns the check that Verify makes.
func checkSchema(db *gorm.DB) func(context.Context, treeschema.Conn, string, []treeschema.Table) ([]treeschema.Finding, error) {
	if probing, _ := db.Get(probingKey); probing != true {
		return treeschema.Run
	}
	return func(ctx context.Context, conn treeschema.Conn, dialect string, layout []treeschema.Table) ([]treeschema.Finding, error) {
		prober, ok := conn.(treeschema.Prober)
		if !ok {
			return nil, errors.New("a probe cannot be rolled back within a transaction: call Verify outside of it")
		}
		return treeschema.RunProbing(ctx, prober, dialect, layout)
	}
}
