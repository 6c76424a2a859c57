package gormplugin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pathlock-go/pathlock/gormplugin/internal/txn"
	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
	"gorm.io/gorm"
)

// DuplicatesError says that siblings of one name keep [AutoMigrate] from making the unique index
// that forbids them.
type DuplicatesError struct {
	// Duplicates are some of the names, at most ten of each table.
	Duplicates []treeschema.Duplicate
}

// TooLongError says which texts are longer than the models allow, so that [AutoMigrate] would cut
// them off.
type TooLongError struct {
	Texts []treeschema.Long
}

// Error implements error.
func (e *TooLongError) Error() string {
	return list("gormplugin: texts are longer than the models say, and nothing was migrated: give the fields a larger size, or shorten the texts:", e.Texts)
}

// maxDuplicates is how many names of each table a [DuplicatesError] lists at most.
const maxDuplicates = 10

// Error implements error.
func (e *DuplicatesError) Error() string {
	return list("gormplugin: siblings have the same name, and nothing was migrated: rename them, or run pathlock fsck --repair:", e.Duplicates)
}

// list returns a message with a line for each item.
func list[T fmt.Stringer](message string, items []T) string {
	for _, item := range items {
		message += "\n\t" + item.String()
	}
	return message
}

// AutoMigrate makes the tables of all registered models, and of others, by GORM's own AutoMigrate,
// and then adds what that one does not: the unique indexes and path indexes that are missing, and
// binary collations for names and paths.
//
// To a table that is there already it adds the columns, indexes and constraints that are missing.
// Of the columns that are there, it only changes names, paths and ids that a finding of [Verify] is
// about, and keeps their defaults, comments and NOT NULL. Change other columns by yourself, with
// [gorm.Migrator.AlterColumn] say. GORM alters columns of others as usual, but on SQLite, where it
// would make a table anew, and delete the rows that refer to it by ON DELETE CASCADE. For the same
// reason, no constraint is added to a table of SQLite that is there.
//
// After it, [Verify] finds nothing wrong with the tables, but may have advice. It may be called
// again at any time, on tables with rows too, but by one program at a time; it drops nothing.
//
// Siblings of one name, which hinder a unique index, are looked for first: they are returned as a
// [*DuplicatesError], and nothing is changed. So are names, paths and ids that the model has no
// room for, as a [*TooLongError]: they would be cut off. On PostgreSQL and SQLite all is done in
// one transaction. MySQL and MariaDB commit each statement by itself; what a failure leaves undone
// there, the next call does. Their statements run in strict mode, whatever the session's is.
//
// What can only be mended by taking something away, such as an index that holds deleted rows
// against live ones, is not done: it is returned as a [*SchemaError], when all else has been done.
// So is what keeps all else from being done, such as another storage engine than InnoDB.
//
// On MySQL and MariaDB a text column without a size cannot be indexed as a whole. There, a name
// without one gets 255 characters, a path 766, which is the most that an index holds beside a tree
// id of eight bytes, and ids that are texts or bytes get 191; tag a field `gorm:"size:…"` for
// another one.
func AutoMigrate(db *gorm.DB, others ...any) error {
	p, err := pluginOf(db)
	if err != nil {
		return err
	}
	var left error
	migrate := func(tx *gorm.DB) (err error) {
		left, err = p.migrate(tx, others)
		return err
	}
	if p.owner.Dialect.CommitsDDL {
		err = strictly(db, migrate)
	} else {
		err = db.Transaction(migrate)
	}
	return errors.Join(err, left)
}

// strictly runs migrate on one connection of MySQL, in strict mode: otherwise a shorter column
// would cut off what is in it.
func strictly(db *gorm.DB, migrate func(*gorm.DB) error) error {
	on := func(tx *gorm.DB) (err error) {
		var mode string
		if err := tx.Raw("SELECT @@SESSION.sql_mode").Row().Scan(&mode); err != nil {
			return fmt.Errorf("gormplugin: reading sql_mode: %w", err)
		}
		if err := tx.Exec("SET SESSION sql_mode = CONCAT_WS(',', 'STRICT_ALL_TABLES', NULLIF(?, ''))", mode).Error; err != nil {
			return fmt.Errorf("gormplugin: setting sql_mode: %w", err)
		}
		defer func() {
			// The connection goes back to the pool.
			restore := tx.WithContext(context.WithoutCancel(tx.Statement.Context)).Exec("SET SESSION sql_mode = ?", mode)
			err = errors.Join(err, restore.Error)
		}()
		return migrate(tx)
	}
	if _, inTransaction := txn.Unwrapped(db.Statement.ConnPool).(*txn.Handle); inTransaction {
		return on(db)
	}
	return db.Connection(func(tx *gorm.DB) error { return on(tx.Session(&gorm.Session{})) })
}

// migrate does the work of [AutoMigrate]. It returns apart what is left to be mended.
func (p *Plugin) migrate(db *gorm.DB, others []any) (left, err error) {
	layout := layout(p.catalogue)
	err = p.onCatalogue(db, func(ctx context.Context, conn treeschema.Conn) error {
		duplicates, err := treeschema.Duplicates(ctx, conn, p.owner.Dialect.Name, layout, maxDuplicates)
		if err == nil && len(duplicates) > 0 {
			return &DuplicatesError{Duplicates: duplicates}
		}
		if err != nil {
			return err
		}
		long, err := treeschema.TooLong(ctx, conn, p.owner.Dialect.Name, layout)
		if err == nil && len(long) > 0 {
			return &TooLongError{Texts: long}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	models := make([]any, 0, len(p.specs)+len(others))
	for _, spec := range p.specs {
		models = append(models, spec.Model)
	}
	for _, model := range append(models, others...) {
		if err := p.migrateModel(db, model); err != nil {
			return nil, fmt.Errorf("gormplugin: AutoMigrate: %w", err)
		}
	}
	findings, err := p.findings(db, layout, treeschema.Automatic)
	if err != nil {
		return nil, err
	}
	for _, f := range findings {
		for _, run := range f.Statements {
			if err := AllowRawWrites(db).Exec(run).Error; err != nil {
				return nil, fmt.Errorf("gormplugin: %s: %s: %s: %w", f.Table, f.Missing, run, err)
			}
		}
	}
	if findings, err = p.findings(db, layout, treeschema.Tables); err != nil {
		return nil, err
	}
	return schemaError(slices.DeleteFunc(findings, func(f treeschema.Finding) bool { return f.Severity == treeschema.Advice })), nil
}

// migrateModel makes or completes the table of a model.
func (p *Plugin) migrateModel(db *gorm.DB, model any) error {
	m := addingMigrator{plugin: p, db: db}
	if there, ok, err := m.present(model); err != nil || ok && there.Exists && !there.IsTable {
		return err // what it is instead is found later
	}
	return p.addingOnly(db).AutoMigrate(model)
}

// findings checks the tables.
func (p *Plugin) findings(db *gorm.DB, layout []treeschema.Table,
	check func(context.Context, treeschema.Conn, string, []treeschema.Table) ([]treeschema.Finding, error),
) (findings []treeschema.Finding, err error) {
	err = p.onCatalogue(db, func(ctx context.Context, conn treeschema.Conn) error {
		findings, err = check(ctx, conn, p.owner.Dialect.Name, layout)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("gormplugin: verifying the schema: %w", err)
	}
	return findings, nil
}
