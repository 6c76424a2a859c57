package gormplugin

import (
	"context"
	"fmt"
	"strings"

	"github.com/pathlock-go/pathlock/gormplugin/treeschema"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"
)

// DuplicatesError says that siblings of one name keep [AutoMigrate] from making the unique index that forbids them.
type DuplicatesError struct {
	// Duplicates are some of the names, at most ten of each table.
	Duplicates []treeschema.Duplicate
}

// maxDuplicates is how many names of each table a [DuplicatesError] lists at most.
const maxDuplicates = 10

// Error implements error.
func (e *DuplicatesError) Error() string {
	lines := make([]string, len(e.Duplicates))
	for i, d := range e.Duplicates {
		lines[i] = "\n\t" + d.String()
	}
	return "gormplugin: siblings have the same name, and nothing was migrated: rename them, or run pathlock fsck --repair:" + strings.Join(lines, "")
}

// AutoMigrate makes the tables of all registered models, and of others, by GORM's own AutoMigrate,
// and then adds what that one does not: the unique indexes and path indexes that are missing, and binary collations for names and
// paths. After it, [Verify] finds nothing wrong with the tables. It may be called again at any time, on tables with rows too, but by one
// program at a time; it drops nothing.
//
// Siblings of one name, which hinder a unique index, are looked for first: they are returned as a
// [*DuplicatesError], and nothing is changed. On PostgreSQL and SQLite all is done in one transaction. MySQL and
// MariaDB commit each statement by itself; what a failure leaves undone there, the next call does.
//
// What can only be mended by taking something away, such as an index that holds deleted rows against live ones, is not done:
// it is returned as a [*SchemaError].
//
// On MySQL and MariaDB a text column without a size cannot be indexed as a whole. There, a name
// without one gets 255 characters, a path 766, which is the most that an index holds beside a tree id of eight bytes, and
// ids that are texts get 191; tag a field `gorm:"size:…"` for another one.
func AutoMigrate(db *gorm.DB, others ...any) error {
	p, err := pluginOf(db)
	if err != nil {
		return err
	}
	migrate := func(tx *gorm.DB) error { return p.migrate(tx, others) }
	if p.dialect.commitsDDL {
		return migrate(db)
	}
	return db.Transaction(migrate)
}

// migrate does the work of [AutoMigrate].
func (p *Plugin) migrate(db *gorm.DB, others []any) error {
	layout := p.layout()
	err := p.catalogue(db, func(ctx context.Context, conn treeschema.Conn) error {
		duplicates, err := treeschema.Duplicates(ctx, conn, p.dialect.name, layout, maxDuplicates)
		if err == nil && len(duplicates) > 0 {
			err = &DuplicatesError{Duplicates: duplicates}
		}
		return err
	})
	if err != nil {
		return err
	}
	models := make([]any, 0, len(p.specs)+len(others))
	for _, spec := range p.specs {
		models = append(models, spec.model)
	}
	if err := db.AutoMigrate(append(models, others...)...); err != nil {
		return fmt.Errorf("gormplugin: AutoMigrate: %w", err)
	}
	findings, err := p.tableFindings(db, layout)
	if err != nil {
		return err
	}
	for _, f := range findings {
		if !f.Automatic() {
			continue
		}
		for _, statement := range f.Statements {
			if err := AllowRawWrites(db).Exec(statement).Error; err != nil {
				return fmt.Errorf("gormplugin: %s: %s: %s: %w", f.Table, f.Missing, statement, err)
			}
		}
	}
	if findings, err = p.tableFindings(db, layout); err != nil {
		return err
	}
	return schemaError(findings)
}

// tableFindings checks the tables.
func (p *Plugin) tableFindings(db *gorm.DB, layout []treeschema.Table) (findings []treeschema.Finding, err error) {
	err = p.catalogue(db, func(ctx context.Context, conn treeschema.Conn) error {
		findings, err = treeschema.Tables(ctx, conn, p.dialect.name, layout)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("gormplugin: verifying the schema: %w", err)
	}
	return findings, nil
}

// Sizes of text columns whose fields state none, where they need one, in characters.
const (
	usualName = 255
	usualPath = 766
	// usualKey is what GORM gives a primary key that is a text.
	usualKey = 191
)

// limitTexts gives a size to texts whose fields state neither a size nor a type.
func (t *table) limitTexts() {
	for field, size := range map[*schema.Field]int{t.label: usualName, t.path: usualPath, t.ids: usualPath, t.tree: usualKey, t.parent: usualKey} {
		if field != nil && field.DataType == schema.String && field.Size == 0 && field.TagSettings["TYPE"] == "" {
			field.Size = size
		}
	}
}
