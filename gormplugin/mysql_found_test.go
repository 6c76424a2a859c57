package gormplugin_test

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"
)

// opened returns a DB with the plugin for a tree, and no table.
func opened(t *testing.T, d gormplugintest.Database, options ...gormplugin.Option) *gorm.DB {
	t.Helper()
	pool := sql.OpenDB(d.Connector)
	t.Cleanup(func() { _ = pool.Close() })
	db, err := gorm.Open(d.Dialector(pool), &gorm.Config{Logger: logger.Discard})
	must(t, err)
	must(t, db.Use(gormplugin.New(pathlock.New(memstore.New()), options...)))
	return db
}

// found returns what Verify finds.
func found(t *testing.T, db *gorm.DB) []gormplugin.Finding {
	t.Helper()
	err := gormplugin.Verify(db)
	if err == nil {
		return nil
	}
	lacks, ok := errors.AsType[*gormplugin.SchemaError](err)
	if !ok {
		t.Fatal(err)
	}
	return lacks.Findings
}

// run runs statements that the plugin need not like.
func run(t *testing.T, db *gorm.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := gormplugin.AllowRawWrites(db).Exec(s).Error; err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// What is proposed to add runs while others write, as the server itself confirms.
func TestMySQLStatementsRunOnline(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		db := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{}))
		must(t, db.AutoMigrate(&gormplugintest.Branch{}))
		d := mysqlBinary(t, db)
		run(t, db, "ALTER TABLE branches MODIFY name VARCHAR(100) COLLATE "+d+", MODIFY path VARCHAR(500) COLLATE "+d,
			"INSERT INTO branches (tree_id, name, path) VALUES (1, '', '')")
		findings := found(t, db)
		if len(findings) != 3 {
			t.Fatalf("found %v, want the three indexes", findings)
		}
		for _, f := range findings {
			for _, s := range f.Statements {
				run(t, db, s+", ALGORITHM = INPLACE, LOCK = NONE")
			}
		}
		if findings := found(t, db); findings != nil {
			t.Error(findings)
		}
	})
}

// mysqlBinary is the collation that different texts differ by.
func mysqlBinary(t *testing.T, db *gorm.DB) string {
	t.Helper()
	var version string
	must(t, db.Raw("SELECT VERSION()").Scan(&version).Error)
	if strings.Contains(version, "MariaDB") {
		return "utf8mb4_nopad_bin"
	}
	return "utf8mb4_0900_bin"
}

// Elsewhere is a tree in a table whose name says which database it is in.
type Elsewhere struct {
	ID       int64
	TreeID   int64  `pathlock:"tree"`
	ParentID *int64 `pathlock:"parent"`
	Name     string `pathlock:"name" gorm:"size:100"`
	Path     string `pathlock:"path" gorm:"size:500"`
	Note     string `gorm:"index:by_note;size:10"`
}

// A table in another database is made, completed and left alone as one in the current database is.
func TestMySQLAutoMigrateElsewhere(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		other := opened(t, mysqlDatabase(t, server, nil), gormplugin.Model(&gormplugintest.Branch{})).Migrator().CurrentDatabase()
		d := mysqlDatabase(t, server, nil)
		pool := sql.OpenDB(d.Connector)
		t.Cleanup(func() { _ = pool.Close() })
		db, err := gorm.Open(d.Dialector(pool), &gorm.Config{Logger: logger.Discard, NamingStrategy: schema.NamingStrategy{TablePrefix: other + "."}})
		must(t, err)
		must(t, db.Use(gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&Elsewhere{}))))
		for range 2 {
			must(t, gormplugin.AutoMigrate(db))
			must(t, gormplugin.Verify(db))
		}
		run(t, db, "ALTER TABLE "+other+".elsewheres DROP COLUMN note")
		must(t, gormplugin.AutoMigrate(db))
		must(t, gormplugin.Verify(db))
	})
}

// mysqlConfig is how to connect to the server.
func mysqlConfig(t *testing.T, server testserver.MySQLServer) *mysqldriver.Config {
	t.Helper()
	config, err := mysqldriver.ParseDSN(server.DSN)
	must(t, err)
	config.ParseTime = true
	return config
}

// Settings by which rows are not what was written, or a transaction ends elsewhere, are found in
// the session.
func TestMySQLUnsafeSessions(t *testing.T) {
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		for _, c := range []struct {
			variable, value string
			want            treeschema.Check
		}{
			{"completion_type", "'CHAIN'", treeschema.TransactionEnd},
			{"autocommit", "0", treeschema.TransactionEnd},
			{"unique_checks", "0", treeschema.UniqueChecks},
		} {
			d := mysqlDatabase(t, server, nil)
			must(t, gormplugin.AutoMigrate(opened(t, d, gormplugin.Model(&gormplugintest.Branch{}))))
			config := mysqlConfig(t, server)
			config.DBName, config.Params = opened(t, d, gormplugin.Model(&gormplugintest.Branch{})).Migrator().CurrentDatabase(), map[string]string{c.variable: c.value}
			as := d
			as.Connector = mysqlConnector(t, config)
			findings := found(t, opened(t, as, gormplugin.Model(&gormplugintest.Branch{})))
			if len(findings) != 1 || findings[0].Check != c.want || findings[0].Severity != gormplugin.Unsafe {
				t.Errorf("%s: found %v", c.variable, findings)
			}
		}
	})
}
