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
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
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
