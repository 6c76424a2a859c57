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
//   - no foreign key, policy or conflict clause that changes the tree by itself;
//   - the server's version, strict mode and isolation level, and no other servers that write, too.
//
// It changes nothing and takes a few milliseconds: call it when the program starts. The settings
// that it sees are those of one connection. It names the triggers and rules of the tables, without
// a judgement: the plugin does not see what they write. It reads no rows, with three exceptions:
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
	findings, err := p.findings(db, layout(p.catalogue), treeschema.Run)
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
