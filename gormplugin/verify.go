package gormplugin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
)

// ErrUnsafeSchema means that something is missing without which a tree can be broken, or nothing
// can be written at all. A [*SchemaError] matches it if any of its findings is [Unsafe].
var ErrUnsafeSchema = errors.New("gormplugin: unsafe schema")

// Finding is one thing that is wrong with a table, the server or the session.
type Finding = treeschema.Finding

// Severity says what a [Finding] endangers.
type Severity = treeschema.Severity

const (
	// Warning means that statements are slow, or wait for each other or fail without need, or that
	// somebody must look at something, such as a trigger.
	Warning = treeschema.Warning
	// Unsafe means that a tree can break, or that nothing can be written.
	Unsafe = treeschema.Unsafe
)

// SchemaError is what [Verify] found, in an order in which the statements can be run.
type SchemaError struct {
	Findings []Finding
}

// Error implements error: a line for each finding, with the statements that mend it.
func (e *SchemaError) Error() string {
	unsafe, findings := 0, ""
	for _, f := range e.Findings {
		if f.Severity == Unsafe {
			unsafe++
		}
		findings += "\n\t" + f.String()
	}
	return fmt.Sprintf("gormplugin: findings about the schema: %d unsafe, %d warnings%s", unsafe, len(e.Findings)-unsafe, findings)
}

// Is matches [ErrUnsafeSchema] if a finding is unsafe.
func (e *SchemaError) Is(target error) bool {
	return target == ErrUnsafeSchema && slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Severity == Unsafe })
}

// OneWriter says that all writes of the tree reach one server although several could take them, for
// example through a proxy in front of a Galera cluster. [Verify] believes it; otherwise it finds
// such a cluster unsafe. Another server of the cluster does not respect the row locks of the first,
// so that two servers can each commit half of a cycle. No setting of the cluster changes that.
func OneWriter() Option { return func(p *Plugin) { p.oneWriter = true } }

// Verify checks, for all registered tables, that the database has what the plugin's promises need:
//
//   - the unique indexes that keep siblings apart, those of the columns that the resolvers made so
//     far look rows up by, and indexes over tree and path;
//   - binary collations, and columns that are long enough;
//   - no foreign key or conflict clause that changes the tree by itself;
//   - live rows with values in the columns of the tree, and none without a parent that has a path
//     below another row's;
//   - the server's version, strict mode and isolation level, and no other servers that write, too.
//
// It changes nothing: call it when the program starts. It reads the rows, a million in a second or
// two. The settings that it sees are those of one connection. It checks each table where dbresolver
// would write it, unless db is in a transaction, or has chosen by Clauses(dbresolver.Write).
//
// It judges plain columns, indexes over plain columns, and the conditions and generated columns
// that [AutoMigrate] writes. Where only another unique index could keep siblings apart, it asks for
// one that it knows. It names triggers, rules, partitions and row-level policies, and cannot judge
// them: docs/gorm.md says what they must leave alone.
//
// It returns what it finds as a [*SchemaError], in which every finding comes with the statements
// that mend it ([AllowRawWrites] lets them pass), or with advice where one plain statement does
// not. An error that matches [ErrUnsafeSchema] should keep the program from starting; the others
// are for the log.
//
//	err := gormplugin.Verify(db)
//	if errors.Is(err, gormplugin.ErrUnsafeSchema) {
//		return err
//	}
//
// Another error means that the checks failed to run, or that no model is registered. In tables that
// [AutoMigrate] makes, Verify finds nothing.
func Verify(db *gorm.DB) error {
	p, err := pluginOfSession(db)
	if err != nil {
		return err
	}
	findings, err := p.findings(db, treeschema.Run)
	if err != nil || len(findings) == 0 {
		return err
	}
	return &SchemaError{Findings: findings}
}

// findings checks the tables, and whatever else check does.
func (p *inUse) findings(db *gorm.DB, check func(context.Context, treeschema.Conn, *dialect.Dialect, []treeschema.Model) ([]Finding, error)) (findings []Finding, err error) {
	if len(p.All) == 0 {
		return nil, errors.New("gormplugin: no model is registered, so nothing is guarded")
	}
	for _, source := range p.sources(db) {
		err := p.onCatalogue(source.on, func(ctx context.Context, conn treeschema.Conn) error {
			tables, err := p.layout(source.tables)
			if err == nil {
				var found []Finding
				found, err = check(ctx, conn, p.Dialect, tables)
				findings = append(findings, found...)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("gormplugin: verifying the schema: %w", err)
		}
	}
	return slices.DeleteFunc(findings, func(f Finding) bool { return p.oneWriter && f.Check == treeschema.Writers && f.Table == "" }), nil
}

// source are tables, and the connections that writes to them go to.
type source struct {
	on     *gorm.DB
	tables []*table.Table
}

// sources returns the registered tables by where dbresolver writes them, unless db says where.
func (p *inUse) sources(db *gorm.DB) (all []source) {
	for _, t := range p.All {
		pool := db.Statement.ConnPool
		if pool == db.ConnPool {
			pool = t.Source(db).ConnPool
		}
		i := slices.IndexFunc(all, func(s source) bool { return s.on.Statement.ConnPool == pool })
		if i < 0 {
			i = len(all)
			all = append(all, source{on: db.WithContext(db.Statement.Context)})
			all[i].on.Statement.ConnPool = pool
		}
		all[i].tables = append(all[i].tables, t)
	}
	return all
}

// onCatalogue runs read in the transaction that db is in, or else on one connection of its pool.
func (p *inUse) onCatalogue(db *gorm.DB, read func(context.Context, treeschema.Conn) error) (err error) {
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

// layout says which columns form the trees of tables, and which ones resolvers look rows up by.
func (p *inUse) layout(tables []*table.Table) ([]treeschema.Model, error) {
	layout := make([]treeschema.Model, 0, len(tables))
	for _, t := range tables {
		model := t.Layout()
		for _, r := range p.lookups {
			l, err := r.lookup(p)
			if err != nil {
				return nil, err
			}
			if unique := l.Unique(); l.Table == t && unique != nil {
				model.Lookups = append(model.Lookups, unique)
			}
		}
		layout = append(layout, model)
	}
	return layout, nil
}
