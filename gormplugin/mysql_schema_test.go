package gormplugin_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestMySQLSchema(t *testing.T) {
	testserver.NotUnderRace(t)
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		gormplugintest.RunSchema(t, func(t *testing.T) gormplugintest.Database { return mysqlDatabase(t, server, nil) })
	})
}

// A name without a size gets one, where an index needs it, and the plugin keeps to it.
func TestMySQLUnsizedTexts(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		d := mysqlDatabase(t, server, nil)
		db := opened(t, d, gormplugin.Model(&gormplugintest.Plain{}))
		must(t, gormplugin.AutoMigrate(db))
		for _, c := range []struct {
			length int
			want   error
		}{{255, nil}, {256, gormplugin.ErrPathTooLong}} {
			err := db.Create(&gormplugintest.Plain{ID: "x", TreeID: "t", Name: strings.Repeat("é", c.length)}).Error
			if !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("a name of %d characters: %v, want %v", c.length, err, c.want)
			}
		}
	})
}

// Where the database's column is shorter than the model's, its error comes back as the plugin's
// own.
func TestMySQLColumnTooShort(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{}))
		must(t, gormplugin.AutoMigrate(db))
		must(t, db.Exec("ALTER TABLE branches MODIFY name VARCHAR(10), MODIFY note VARCHAR(10)").Error)
		root := &gormplugintest.Branch{TreeID: 1}
		must(t, db.Create(root).Error)
		for _, c := range []struct {
			name, note string
			tooLong    bool
		}{{"eleven char", "", true}, {"a", "eleven char", false}} {
			err := db.Create(&gormplugintest.Branch{ParentID: &root.ID, Name: c.name, Note: c.note}).Error
			if err == nil || errors.Is(err, gormplugin.ErrPathTooLong) != c.tooLong {
				t.Errorf("name %q, note %q: %v; too long: %t", c.name, c.note, err, c.tooLong)
			}
		}
	})
}

func TestVerifyWithoutPlugin(t *testing.T) {
	db := openNowhere(t, "mysql")
	for name, call := range map[string]func() error{
		"Verify": func() error { return gormplugin.Verify(db) }, "AutoMigrate": func() error { return gormplugin.AutoMigrate(db) },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "does not use the plugin") {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&tagged{}))))
	err := gormplugin.Verify(db)
	if _, found := errors.AsType[*gormplugin.SchemaError](err); err == nil || found {
		t.Errorf("of a database that is down: %v", err)
	}
}
