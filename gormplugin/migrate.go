package gormplugin

import (
	"errors"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
)

// AutoMigrate makes the tables of all registered models, and of others, by GORM's own AutoMigrate,
// with binary collations for names and paths. Then it makes the unique indexes and the path indexes
// that the plugin needs. The others may contain registered models.
//
// To an existing table of a registered model it adds missing columns, indexes and constraints, and
// changes nothing that is there. If the table has rows, and lacks a column of the tree, parent,
// name, path or depth, or a live row has no value in one, or no parent and a path below another
// row's, AutoMigrate changes nothing at all, and the error matches [ErrUnsafeSchema]. It says what
// to do: pathlock adopt prints statements that add and fill a parent, for example, and pathlock
// fsck fills paths.
//
// GORM alters the columns of other models as usual, except on SQLite: there it would recreate the
// table, and delete the rows that refer to it with ON DELETE CASCADE. For the same reason
// AutoMigrate adds no constraint to an existing table of SQLite.
//
// It works in the database that db was opened on. If dbresolver writes the tables in another one,
// pass db.Clauses(dbresolver.Use("its name"), dbresolver.Write).
//
// It returns what [Verify] then finds unsafe in the tables, the server or the session, for you to
// mend. Warnings go to GORM's logger. It may be called again at any time, also on tables with rows.
//
// Several programs may call it at once, such as instances that start together: one does the work,
// and the others wait for it, for a minute at most. An advisory lock of the database keeps them
// apart on PostgreSQL, GET_LOCK on MySQL and MariaDB, and the write lock on SQLite. GET_LOCK holds
// on one node of a Galera cluster, or is refused: there, let all programs call it on one node, or
// one at a time. If the database aborts the work in favour of other writers, AutoMigrate repeats
// it.
//
// If siblings have the same name, the database refuses the unique index, and the error matches
// [ErrNameTaken]: rename them, or run pathlock fsck --repair. On PostgreSQL and SQLite AutoMigrate
// runs in one transaction. MySQL and MariaDB commit each statement by itself: the next call
// completes what a failure has left undone.
//
// On MySQL and MariaDB a text column without a size cannot be indexed as a whole. In a new table, a
// name without a size gets 255 characters, a path 766, which is the most that an index holds beside
// a tree id of eight bytes, and ids that are texts or bytes get 191, unless the dialector has a
// DefaultStringSize. Tag a field `gorm:"size:…"` for another size.
func AutoMigrate(db *gorm.DB, others ...any) error {
	p, err := pluginOfSession(db)
	if err != nil {
		return err
	}
	var left SchemaError
	err = p.alone(db, func(tx *gorm.DB) (err error) {
		left.Findings, err = p.migrate(tx, others)
		return err
	})
	switch {
	case err != nil:
		return err
	case errors.Is(&left, ErrUnsafeSchema):
		return &left
	case len(left.Findings) > 0:
		db.Logger.Warn(db.Statement.Context, "%v", &left)
	}
	return nil
}

// alone runs migrate while no other program migrates.
func (p *inUse) alone(db *gorm.DB, migrate func(*gorm.DB) error) error {
	return p.inTurn(db, func() error {
		locked := func(tx *gorm.DB) error { return p.locked(tx, migrate) }
		if p.Dialect.CommitsDDL {
			return pinned(db, locked)
		}
		return db.Transaction(locked)
	})
}

// migrate does the work of [AutoMigrate], and returns the findings that remain. The rows are read
// only beforehand: to a table with rows, it adds none of the tree's columns.
func (p *inUse) migrate(db *gorm.DB, others []any) ([]Finding, error) {
	findings, err := p.findings(db, treeschema.Run)
	if err != nil {
		return nil, err
	}
	unfilled := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Check != treeschema.Filled })
	if len(unfilled) > 0 {
		return nil, &SchemaError{Findings: unfilled}
	}
	settings := slices.DeleteFunc(findings, func(f Finding) bool { return f.Table != "" })
	models := make([]any, 0, len(p.specs)+len(others))
	for _, spec := range p.specs {
		models = append(models, spec.Model)
	}
	for _, model := range append(models, others...) {
		if err := p.migrateModel(db, model); err != nil {
			return nil, fmt.Errorf("gormplugin: AutoMigrate: %w", p.unmade(err))
		}
	}
	tables, err := p.findings(db, treeschema.Tables)
	if !slices.ContainsFunc(tables, Finding.Adds) {
		return append(settings, tables...), err
	}
	for _, f := range tables {
		for _, run := range f.Statements {
			if !f.Adds() {
				break
			}
			if err := AllowRawWrites(db).Exec(run).Error; err != nil {
				if f.Check != treeschema.Lookup {
					err = p.unmade(err)
				}
				return nil, fmt.Errorf("gormplugin: %s: %s: %s: %w", f.Table, f.Missing, run, err)
			}
		}
	}
	tables, err = p.findings(db, treeschema.Tables)
	return append(settings, tables...), err
}

// unmade says what to do if the rows prevent a unique index.
func (p *inUse) unmade(err error) error {
	if p.Dialect.Classify(err) != dialect.FailureDuplicate && !errors.Is(err, gorm.ErrDuplicatedKey) {
		return err
	}
	return fmt.Errorf("%w, or another value that must be unique: rename siblings of one name, or have pathlock fsck --repair do it, after filling a parent column that is new: %w", ErrNameTaken, err)
}

// migrateModel makes or completes the table of a model.
func (p *inUse) migrateModel(db *gorm.DB, model any) error {
	if there, ok, err := p.present(db, model); err != nil || ok && there.Exists && !there.IsTable {
		return err // the final check reports what it is instead
	}
	tx, err := p.addingOnly(db)
	if err != nil {
		return err
	}
	return tx.AutoMigrate(model)
}
