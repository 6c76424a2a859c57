package database_test

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/database"
	"github.com/pathlock-go/pathlock/internal/testserver"
)

// A key names the row that has it, and no other: databases that convert texts to numbers do not
// choose one.
func TestLocate(t *testing.T) {
	t.Parallel()
	test := func(t *testing.T, url string) {
		t.Helper()
		db := open(t, url)
		name := "locate_" + strings.ToLower(rand.Text()[:10])
		do := func(statement string) {
			t.Helper()
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
		for kind, keys := range map[string]struct{ there, not []string }{
			"BIGINT": {
				[]string{"2", "0", "-3", "9007199254740993", "9223372036854775807"},
				[]string{"2x", "2 or 1=1", "", "x", "2.5", "1e0", "9007199254740992", "9223372036854775806", "18446744073709551615", "0x2"},
			},
			"VARCHAR(40)": {[]string{"2", "a b", "x'y", "计划"}, []string{"2x", "", "2 or 1=1", "a", "x"}},
		} {
			do("CREATE TABLE " + name + " (id " + kind + " PRIMARY KEY, plan_id VARCHAR(40), path VARCHAR(100))")
			for _, key := range keys.there {
				do("INSERT INTO " + name + " VALUES ('" + strings.ReplaceAll(key, "'", "''") + "', 'plan', '/" + strings.ReplaceAll(key, "'", "''") + "')")
			}
			rows := database.Rows{DB: url, Table: name, Key: "id", TreeColumn: "plan_id", Path: "path"}
			for _, key := range keys.there {
				if tree, path, err := rows.Locate(t.Context(), key); err != nil || tree != "plan" || path != "/"+key {
					t.Errorf("%s %q: %s %s, %v", kind, key, tree, path, err)
				}
			}
			for _, key := range keys.not {
				if _, path, err := rows.Locate(t.Context(), key); err == nil {
					t.Errorf("%s %q is found to be %s", kind, key, path)
				}
			}
			do("DROP TABLE " + name)
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "test.db")
		create(t, path)
		test(t, "sqlite://"+path)
	})
	t.Run("PostgreSQL", func(t *testing.T) { test(t, testserver.Postgres(t)) })
	testserver.EachMySQL(t, func(t *testing.T, server testserver.MySQLServer) {
		slash := strings.LastIndexByte(server.DSN, '/')
		at := func(name string) string { return "mysql://" + server.DSN[:slash+1] + name + server.DSN[slash+1:] }
		admin, name := open(t, at("information_schema")), "locate_"+strings.ToLower(rand.Text()[:10])
		if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name+" CHARACTER SET utf8mb4"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = admin.ExecContext(context.Background(), "DROP DATABASE "+name) })
		test(t, at(name))
	})
}
