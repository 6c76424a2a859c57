package gormplugin

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/migrator"
	"gorm.io/gorm/schema"

	"github.com/pathlock-go/pathlock/gormplugin/internal/table"
	"github.com/pathlock-go/pathlock/internal/treeschema"
)

// adding is a dialector whose migrator only adds to the tables of registered models, and changes
// nothing that exists. GORM's own migrator alters every column that differs from its model. On
// MySQL and PostgreSQL, these columns lose defaults, comments and NOT NULL. On SQLite, it recreates
// the whole table, without its triggers and indexes, and deletes the rows that refer to it with ON
// DELETE CASCADE.
type adding struct {
	gorm.Dialector
	plugin *inUse
	// binary is the collation that paths need, "" if they need not state one.
	binary string
}

// addingOnly returns a session of db whose AutoMigrate only adds.
func (p *inUse) addingOnly(db *gorm.DB) (*gorm.DB, error) {
	tx := db.Session(&gorm.Session{})
	binary := ""
	if p.Dialect.Collation != nil {
		var version string
		if err := tx.Raw("SELECT VERSION()").Row().Scan(&version); err != nil {
			return nil, err
		}
		binary = p.Dialect.Collation(version)
	}
	tx.Dialector = adding{tx.Dialector, p, binary}
	return tx, nil
}

// Migrator implements [gorm.Dialector].
func (a adding) Migrator(db *gorm.DB) gorm.Migrator {
	return addingMigrator{a.Dialector.Migrator(db), db, a}
}

// addingMigrator is the migrator of [adding].
type addingMigrator struct {
	gorm.Migrator
	db *gorm.DB
	of adding
}

// present returns what the database has of a registered model's table; ok is false for other
// models.
func (p *inUse) present(db *gorm.DB, model any) (there treeschema.Present, ok bool, err error) {
	t := p.Models[table.Pointee(model)]
	if t == nil {
		return there, false, nil
	}
	err = p.onCatalogue(db, func(ctx context.Context, conn treeschema.Conn) (err error) {
		there, err = treeschema.Look(ctx, conn, p.Dialect, t.TableName)
		return err
	})
	return there, true, err
}

// HasTable looks for the table in the schema that statements find it in. GORM's own looks in the
// current one.
func (m addingMigrator) HasTable(model any) bool {
	there, ok, err := m.of.plugin.present(m.db, model)
	if !ok {
		return m.Migrator.HasTable(model)
	}
	return err == nil && there.Exists
}

// ColumnTypes says which columns there are.
func (m addingMigrator) ColumnTypes(model any) ([]gorm.ColumnType, error) {
	there, ok, err := m.of.plugin.present(m.db, model)
	if !ok {
		return m.Migrator.ColumnTypes(model)
	}
	types := make([]gorm.ColumnType, len(there.Columns))
	for i, c := range there.Columns {
		types[i] = migrator.ColumnType{NameValue: sql.NullString{String: c.Name, Valid: true}}
	}
	return types, err
}

// FullDataTypeOf gives the text columns of a tree a binary collation, unless the model's own type
// states one. PostgreSQL could not change it later in a column that something else uses.
func (m addingMigrator) FullDataTypeOf(f *schema.Field) clause.Expr {
	expr := m.Migrator.FullDataTypeOf(f)
	t := m.of.plugin.Models[f.Schema.ModelType]
	typ := strings.ToLower(expr.SQL)
	if t == nil || strings.Contains(typ, "collate") || !strings.HasPrefix(typ, "text") && !strings.HasPrefix(strings.TrimPrefix(typ, "var"), "char") {
		return expr
	}
	layout := t.Layout()
	paths := f.DBName == layout.Path || f.DBName == layout.IDPath
	keys := slices.Contains(layout.TextKeys, f.DBName) && !m.refersElsewhere(f)
	if m.of.binary != "" && (paths || m.of.plugin.Dialect.CollatesKeys && (keys || f.DBName == layout.Name)) {
		expr.SQL += " COLLATE " + m.of.binary
	}
	return expr
}

// refersElsewhere reports whether a foreign key ties a field to a table that is not registered.
// Both columns need the same collation.
func (m addingMigrator) refersElsewhere(f *schema.Field) bool {
	for _, rel := range f.Schema.Relationships.Relations {
		for _, ref := range rel.References {
			if ref.ForeignKey == f && ref.PrimaryKey != nil && m.of.plugin.Models[ref.PrimaryKey.Schema.ModelType] == nil {
				return true
			}
		}
	}
	return false
}

// MigrateColumn leaves a column as it is, but for a UNIQUE constraint that the model asks for.
func (m addingMigrator) MigrateColumn(model any, f *schema.Field, have gorm.ColumnType) error {
	there, ok, err := m.of.plugin.present(m.db, model)
	switch {
	case m.remakes(), !f.Creatable && !f.Updatable:
		return nil // a column that the model only reads may be generated
	case !ok:
		return m.Migrator.MigrateColumn(model, f, have)
	case err != nil || !f.Unique || f.PrimaryKey || f.IgnoreMigration || slices.Contains(there.Unique, f.DBName):
		return err
	default:
		return m.CreateConstraint(model, m.db.NamingStrategy.UniqueName(f.Schema.Table, f.DBName))
	}
}

// CreateConstraint adds a constraint to a table that is there, where the database can.
func (m addingMigrator) CreateConstraint(model any, name string) error {
	if m.remakes() {
		return nil
	}
	return m.Migrator.CreateConstraint(model, name)
}

// HasIndex looks for the index where the table is.
func (m addingMigrator) HasIndex(model any, name string) bool {
	there, ok, err := m.of.plugin.present(m.db, model)
	if !ok {
		return m.Migrator.HasIndex(model, name)
	}
	return err == nil && slices.Contains(there.Indexes, name)
}

// BuildIndexOptions implements [migrator.BuildIndexOptionsInterface], which GORM's migrators ask
// for, and all have.
func (m addingMigrator) BuildIndexOptions(fields []schema.IndexOption, stmt *gorm.Statement) []any {
	return m.Migrator.(migrator.BuildIndexOptionsInterface).BuildIndexOptions(fields, stmt)
}

// remakes reports whether GORM changes a table by recreating it. Foreign keys cannot be switched
// off within a transaction, and the tree may refer to any model's table with ON DELETE CASCADE.
func (m addingMigrator) remakes() bool { return m.of.plugin.Dialect.RemakesTables }
