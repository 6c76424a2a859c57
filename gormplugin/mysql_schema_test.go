package gormplugin_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

func TestMySQLSchema(t *testing.T) {
	testserver.NotUnderRace(t)
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		gormplugintest.RunSchema(t, func(t *testing.T) gormplugintest.Database { return mysqlDatabase(t, server, nil) })
	})
}

// openMigrated returns a DB with tables in which nothing is wrong.
func openMigrated(t *testing.T, d gormplugintest.Database) *gorm.DB {
	t.Helper()
	pool := sql.OpenDB(d.Connector)
	t.Cleanup(func() { _ = pool.Close() })
	db, err := gorm.Open(d.Dialector(pool), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	must(t, db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&gormplugintest.Branch{}))))
	if err := gormplugin.AutoMigrate(db); !errors.Is(err, gormplugin.ErrUnsafeSchema) {
		must(t, err)
	}
	return db
}

// What is wrong with a session is found, and what the finding says to write into the DSN mends it.
func TestMySQLSessionFlaws(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for _, c := range []struct {
			name            string
			settings, mends map[string]string
			want            treeschema.Check
			says            string
		}{
			{"not strict", map[string]string{"sql_mode": "'NO_ENGINE_SUBSTITUTION'"}, map[string]string{"sql_mode": "'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'"},
				treeschema.StrictMode, "sql_mode=%27STRICT_TRANS_TABLES%2CNO_ENGINE_SUBSTITUTION%27"},
		} {
			t.Run(c.name, func(t *testing.T) {
				found, ok := errors.AsType[*gormplugin.SchemaError](gormplugin.Verify(openMigrated(t, mysqlDatabase(t, server, c.settings))))
				if !ok || len(found.Findings) != 1 || found.Findings[0].Check != c.want || !strings.Contains(found.Findings[0].Advice, c.says) {
					t.Errorf("found %v, want %q and %q", found, c.want, c.says)
				} else if statements := found.Findings[0].Statements; statements != nil {
					t.Errorf("the statements %q are for the session of other programs, too", statements)
				}
				must(t, gormplugin.Verify(openMigrated(t, mysqlDatabase(t, server, c.mends))))
			})
		}
	})
}

// That a path in the order of a language is unsafe is no theory: a line separator comes before the
// end of a text there, so that the row below a path comes before it, and a rename leaves it behind.
func TestMySQLOrderOfLanguage(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for _, c := range []struct {
			collation string
			want      string
		}{
			{"utf8mb4_unicode_ci", "/a/\u2028x"},
			{"utf8mb4_bin", "/b/\u2028x"},
		} {
			db := openMigrated(t, mysqlDatabase(t, server, nil))
			must(t, gormplugin.AllowRawWrites(db).Exec("ALTER TABLE branches MODIFY path VARCHAR(500) COLLATE "+c.collation).Error)
			root := &gormplugintest.Branch{TreeID: 1}
			must(t, db.Create(root).Error)
			a := &gormplugintest.Branch{ParentID: &root.ID, Name: "a"}
			must(t, db.Create(a).Error)
			x := &gormplugintest.Branch{ParentID: &a.ID, Name: "\u2028x"}
			must(t, db.Create(x).Error)
			must(t, db.Model(a).Update("name", "b").Error)
			must(t, db.Take(x, x.ID).Error)
			if x.Path != c.want {
				t.Errorf("%s: the path is %q after the rename, want %q", c.collation, x.Path, c.want)
			}
		}
	})
}

// A name without a size gets one, where an index needs it, and the plugin keeps to it.
func TestMySQLUnsizedTexts(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		d := mysqlDatabase(t, server, nil)
		pool := sql.OpenDB(d.Connector)
		t.Cleanup(func() { _ = pool.Close() })
		db, err := gorm.Open(d.Dialector(pool), &gorm.Config{Logger: logger.Discard})
		must(t, err)
		must(t, db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&gormplugintest.Plain{}))))
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
		db := openMigrated(t, mysqlDatabase(t, server, nil))
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
