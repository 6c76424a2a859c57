package gormplugintest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
)

// Typed is a tree whose columns all hold texts.
type Typed struct {
	ID       string  `gorm:"primaryKey"`
	TreeID   string  `pathlock:"tree"`
	ParentID *string `pathlock:"parent"`
	Name     string  `pathlock:"name"`
	Path     string  `pathlock:"path"`
	Status   string  `pathlock:"deleted,when:archived"`
}

// TableName implements GORM's interface.
func (Typed) TableName() string { return "typed" }

// columnType is a type that a column of [Typed] may have in a database.
type columnType struct {
	column, typ string
	// holds is a text that comes back as it was written, or changes is one that does not.
	holds, changes string
}

// typesOfPostgres makes types: a domain is as good as its base type.
var typesOfPostgres = []string{
	"CREATE EXTENSION IF NOT EXISTS citext",
	"CREATE DOMAIN label AS text CHECK (value <> '')",
	"CREATE DOMAIN shorter AS varchar(20)",
	"CREATE DOMAIN short AS shorter",
	"CREATE DOMAIN padded AS char(20)",
	"CREATE TYPE state AS ENUM ('draft', 'archived')",
}

const fixedUUID = "0b1e7f6c-1111-4222-8333-9a9b9c9d9e9f"

// columnTypes are those types, by the dialect's name.
var columnTypes = map[string][]columnType{
	"mysql": {
		{column: "name", typ: "TINYTEXT COLLATE ${binary}", holds: "x "},
		{column: "name", typ: "CHAR(20) COLLATE ${binary}", changes: "x "},
		{column: "name", typ: "ENUM('x', 'y')", changes: "X"},
		{column: "path", typ: "CHAR(20) COLLATE ${binary}", changes: "/x "},
		{column: "id", typ: "VARBINARY(36)", holds: "x "},
		{column: "id", typ: "BINARY(36)", changes: "x"},
		{column: "status", typ: "VARCHAR(20)", holds: "archived"},
		{column: "status", typ: "ENUM('draft', 'archived')", holds: "archived"},
		{column: "status", typ: "SET('draft', 'archived')", holds: "archived"},
		{column: "status", typ: "INT", changes: "archived"},
		{column: "status", typ: "BINARY(20)", changes: "archived"},
	},
	"postgres": {
		{column: "name", typ: "text", holds: "x "},
		{column: "name", typ: "label", holds: "x "},
		{column: "name", typ: "short", holds: "x "},
		{column: "name", typ: "padded", changes: "x"},
		{column: "name", typ: "citext", holds: "X "},
		{column: "name", typ: "name", changes: strings.Repeat("x", 64)},
		{column: "name", typ: "uuid", changes: "0B1E7F6C-1111-4222-8333-9A9B9C9D9E9F"},
		{column: "path", typ: `label COLLATE "C"`, holds: "/x "},
		{column: "path", typ: "padded", changes: "/x"},
		{column: "path", typ: "citext"}, // holds equal what must not be
		{column: "id", typ: "uuid", holds: fixedUUID},
		{column: "id", typ: "label", holds: "x "},
		{column: "id", typ: "int", changes: "x"},
		{column: "status", typ: "label", holds: "archived"},
		{column: "status", typ: "citext", holds: "archived"},
		{column: "status", typ: "state", holds: "archived"},
		{column: "status", typ: "int", changes: "archived"},
	},
	"sqlite": {
		{column: "name", typ: "VARCHAR(20)", holds: "007"},
		{column: "name", typ: "CHAR(20)", holds: "x "},
		{column: "name", typ: "STRING", changes: "007"},
		{column: "name", typ: "UUID", changes: "007"},
		{column: "path", typ: "UUID", changes: "1e3"},
		{column: "id", typ: "UUID", holds: fixedUUID},
		{column: "id", typ: "uuid", holds: fixedUUID},
		{column: "id", typ: "STRING", changes: "007"},
		{column: "status", typ: "TEXT", holds: "archived"},
		{column: "status", typ: "STRING", changes: "1e3"},
	},
}

// checkTypes gives one column after the other another type. A type that returns what was written is
// safe, any other one is not.
func checkTypes(t *testing.T, d Database) {
	text := map[string]string{"mysql": "VARCHAR(100) COLLATE ${binary}", "postgres": `varchar(100) COLLATE "C"`, "sqlite": "TEXT"}
	w := newSchemaWorld(t, d, gormplugin.Model(&Typed{}))
	if w.db.Name() == "postgres" {
		for _, statement := range typesOfPostgres {
			w.exec(statement)
		}
	}
	for _, c := range columnTypes[w.db.Name()] {
		t.Run(c.column+" "+c.typ, func(t *testing.T) {
			w := newSchemaWorld(t, d, gormplugin.Model(&Typed{})) // whose driver knows no statement of an earlier table
			w.must(w.db.Migrator().DropTable(&Typed{}))
			is := func(column string) string {
				if column == c.column || column == "parent_id" && c.column == "id" {
					return c.typ
				}
				return text[w.db.Name()]
			}
			w.exec(fmt.Sprintf("CREATE TABLE typed (id %s NOT NULL PRIMARY KEY, tree_id %s NOT NULL, parent_id %s, name %s NOT NULL, path %s NOT NULL, status %s NOT NULL)",
				is("id"), is("tree_id"), is("parent_id"), is("name"), is("path"), is("status")))
			unsafe := slices.ContainsFunc(w.findings(), func(f gormplugin.Finding) bool {
				return f.Check == "type" && f.Severity == gormplugin.Unsafe && strings.Contains(f.Missing, "column "+c.column+" ")
			})
			if unsafe != (c.holds == "") {
				t.Errorf("unsafe is %v: %v", unsafe, w.findings())
			}
			if c.holds != "" {
				w.keeps(c)
			}
			if c.changes != "" {
				w.alters(c)
			}
		})
	}
}

// keeps writes a row whose column has the type, and marks it as deleted.
func (w *schemaWorld) keeps(c columnType) {
	w.Helper()
	row := &Typed{ID: fixedUUID, TreeID: "t", Name: "n", Status: "draft"}
	switch c.column {
	case "id":
		row.ID = c.holds
	case "name", "path":
		row.Name = strings.TrimPrefix(c.holds, "/")
	}
	w.must(w.db.Create(row).Error)
	var back Typed
	w.must(w.db.Take(&back).Error)
	if back != *row || back.Path != "/"+row.Name {
		w.Errorf("%+v comes back as %+v", *row, back)
	}
	w.must(w.db.Model(&back).Update("status", "archived").Error)
	_, err := gormplugin.Resolve(w.db, &Typed{}, row.ID)
	w.fails(err, pathlock.ErrNotFound)
	w.must(gormplugin.AllowRawWrites(w.db).Exec("DELETE FROM typed").Error)
}

// alters writes a row past the plugin.
func (w *schemaWorld) alters(c columnType) {
	w.Helper()
	values := map[string]string{"id": fixedUUID, "name": "n", "path": "/n", "status": "draft"}
	values[c.column] = c.changes
	err := gormplugin.AllowRawWrites(w.db).Exec(fmt.Sprintf("INSERT INTO typed (id, tree_id, name, path, status) VALUES ('%s', 't', '%s', '%s', '%s')",
		values["id"], values["name"], values["path"], values["status"])).Error
	var back []string
	if err == nil {
		w.must(w.db.Model(&Typed{}).Pluck(c.column, &back).Error)
	}
	if slices.Equal(back, []string{c.changes}) {
		w.Errorf("%q comes back as it was written", c.changes)
	}
}
