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

// ErrUnsafeSchema means that something is missing without which a tree can be broken, or nothing
// can be written at all. A [*SchemaError] matches it if any of its findings is [treeschema.Unsafe].
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

// OneWriter says that all writes of the tree reach one server, though several could take them, such
// as by a proxy in front of a Galera cluster. [Verify] believes it; otherwise it finds such a
// cluster unsafe. Another server of the cluster does not respect the row locks of the first, so
// that two servers can each commit half of a cycle. No setting of the cluster changes that.
func OneWriter() Option { return func(p *Plugin) { p.oneWriter = true } }

// Verify checks, for all registered tables, that the database has what the plugin's promises rest
// on:
//
//   - the unique indexes that keep siblings apart, and indexes over tree and path;
//   - binary collations, and columns that are long enough;
//   - no foreign key, trigger, rule, policy or conflict clause that changes the tree by itself;
//   - the server's version, strict mode and isolation level, and no other servers that write, too.
//
// It changes nothing and takes a few milliseconds: call it when the program starts. The settings
// that it sees are those of one connection. It judges triggers by their text, and says where the
// text is not enough. With [Probing] it tries those triggers out, and rolls back what it has
// written. It reads no rows, with three exceptions:
//
//   - Where an index keeps rows at the top apart only if their parent is NULL, it looks for a row
//     whose parent is 0.
//   - Where a statement would shorten a text column, it counts the texts that would be cut off, and
//     proposes no such statement if there are any.
//   - Where names have no unique index, and a collation that holds different names equal, it looks
//     for siblings that such an index would refuse, and gives advice if there are any.
//
// It returns what it finds as a [*SchemaError], in which every finding comes with the statements
// that mend it, ready to run, or with advice where no statement can. An error that matches
// [ErrUnsafeSchema] should keep the program from starting; the others are for the log. A finding
// that is [treeschema.Advice] is about a second line of defence.
//
//	err := gormplugin.Verify(db)
//	if errors.Is(err, gormplugin.ErrUnsafeSchema) {
//		return err
//	}
//
// Another error means that the checks failed to run. In tables that [AutoMigrate] makes, Verify
// finds nothing.
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
	case oneConn:
		return read(ctx, on.Conn)
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

// Probing returns a DB on which [Verify] also tries out the triggers whose text does not show what
// they do to a tree: those with SQL that is assembled when it runs, a function in C, or a routine
// whose text the user may not read, and those that the user may not see. db itself stays as it is.
//
//	err := gormplugin.Verify(gormplugin.Probing(db))
//
// A probe writes two rows of its own below a row of the table that is there, or in a tree of its
// own in an empty table: it inserts them, renames one, rewrites the other's path, moves it, and
// deletes both. After each statement it compares what the database has with what was written, and
// the places of the table's other rows with what they were. Then it rolls all of it back, whatever
// it saw.
//
// Verify does not probe by itself, since a rollback does not undo everything: not what a trigger
// writes to a table without transactions or sends elsewhere, and not the numbers that it has taken
// from a sequence. On MySQL and MariaDB the table's AUTO_INCREMENT goes up by two. A probe takes
// some milliseconds, during which others may wait for the rows that it locks. So probe on a copy of
// the database, or where that is acceptable, such as before the program's first start. Tables
// without such triggers are not written to.
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
