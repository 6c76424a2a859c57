package gormplugin

import (
	"context"
	"errors"
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
	"gorm.io/gorm"
)

// DuplicatesError says that siblings with the same name keep [AutoMigrate] from making the unique
// index that forbids them.
type DuplicatesError struct {
	// Duplicates are some of the names, at most ten of each table.
	Duplicates []treeschema.Duplicate
}

// TooLongError says which texts are longer than the models allow: [AutoMigrate] would cut them off.
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

// AutoMigrate makes the tables of all registered models, and of others, by GORM's own AutoMigrate.
// Then it adds what is missing for the plugin: unique indexes, path indexes, and binary collations
// for names and paths.
//
// To an existing table of a registered model it adds missing columns, indexes and constraints. Of
// the existing columns it changes only names, paths and ids for which [Verify] has a finding, and
// keeps their defaults, comments and NOT NULL. Change other columns yourself, by
// [gorm.Migrator.AlterColumn] for example. GORM alters the columns of other models as usual, except
// on SQLite: there it would make the table anew, and delete the rows that refer to it by ON DELETE
// CASCADE. For the same reason AutoMigrate adds no constraint to an existing table of SQLite.
//
// It ends with [Verify], and returns what that finds if it is unsafe: of the server and the
// session, too. It may be called again at any time, also on tables with rows. It drops nothing.
//
// Several programs may call it at once, such as instances that start together: one does the work,
// and the others wait for it, for a minute at most. An advisory lock of the database keeps them
// apart on PostgreSQL, GET_LOCK on MySQL and MariaDB, and the write lock on SQLite. GET_LOCK holds
// on one node of a Galera cluster, or is refused: there, let all programs call it on one node, or
// one at a time. If the database gives the work up in favour of others who write, it is done again.
//
// It first looks for siblings with the same name, which a unique index would refuse, and for names,
// paths and ids for which the model has no room, which would be cut off. It returns them as a
// [*DuplicatesError] or a [*TooLongError], and changes nothing. On PostgreSQL and SQLite it runs in
// one transaction. MySQL and MariaDB commit each statement by itself: the next call completes what
// a failure has left undone. Statements run in strict mode there, whatever the session's mode is.
//
// It does not remove anything, such as an index that holds deleted rows against live ones, nor
// change another storage engine into InnoDB: it does everything else, and leaves that to you.
//
// On MySQL and MariaDB a text column without a size cannot be indexed as a whole. There, a name
// without a size gets 255 characters, a path 766, which is the most that an index holds beside a
// tree id of eight bytes, and ids that are texts or bytes get 191. Tag a field `gorm:"size:…"` for
// another size.
func AutoMigrate(db *gorm.DB, others ...any) error {
	p, err := pluginOf(db)
	if err != nil {
		return err
	}
	err = p.inTurn(db, func() error {
		migrate := func(tx *gorm.DB) error {
			return p.locked(tx, func(tx *gorm.DB) error { return p.migrate(tx, others) })
		}
		if p.owner.Dialect.CommitsDDL {
			return pinned(db, func(tx *gorm.DB) error { return strictly(tx, migrate) })
		}
		return db.Transaction(migrate)
	})
	if err != nil {
		return err
	}
	return left(db)
}

// left returns what [Verify] finds after a migration, if that is unsafe.
func left(db *gorm.DB) error {
	err := Verify(db)
	if _, found := errors.AsType[*SchemaError](err); found && !errors.Is(err, ErrUnsafeSchema) {
		return nil
	}
	return err
}

// strictly runs migrate in strict mode. Otherwise a shorter column would cut texts off. tx is one
// connection.
func strictly(tx *gorm.DB, migrate func(*gorm.DB) error) (err error) {
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

// migrate does the work of [AutoMigrate].
func (p *Plugin) migrate(db *gorm.DB, others []any) error {
	layout := layout(p.catalogue)
	err := p.onCatalogue(db, func(ctx context.Context, conn treeschema.Conn) error {
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
		return err
	}
	models := make([]any, 0, len(p.specs)+len(others))
	for _, spec := range p.specs {
		models = append(models, spec.Model)
	}
	for _, model := range append(models, others...) {
		if err := p.migrateModel(db, model); err != nil {
			return fmt.Errorf("gormplugin: AutoMigrate: %w", err)
		}
	}
	findings, err := p.findings(db, layout, treeschema.Automatic)
	if err != nil {
		return err
	}
	for _, f := range findings {
		for _, run := range f.Statements {
			if err := AllowRawWrites(db).Exec(run).Error; err != nil {
				return fmt.Errorf("gormplugin: %s: %s: %s: %w", f.Table, f.Missing, run, err)
			}
		}
	}
	return nil
}

// migrateModel makes or completes the table of a model.
func (p *Plugin) migrateModel(db *gorm.DB, model any) error {
	m := addingMigrator{plugin: p, db: db}
	if there, ok, err := m.present(model); err != nil || ok && there.Exists && !there.IsTable {
		return err // the final check reports what it is instead
	}
	tx, err := p.addingOnly(db)
	if err != nil {
		return err
	}
	return tx.AutoMigrate(model)
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
