package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	var b strings.Builder
	fmt.Fprintf(&b, "gormplugin: the schema lacks %d things", len(e.Findings))
	if len(e.Findings) == 1 {
		b.Reset()
		b.WriteString("gormplugin: the schema lacks something")
	}
	for _, f := range e.Findings {
		b.WriteString("\n\t")
		b.WriteString(f.String())
	}
	return b.String()
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

// catalogue runs read on the transaction that db is in, or else on one connection of its pool.
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
