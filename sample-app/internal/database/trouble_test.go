package database_test

import (
	"path/filepath"
	"strings"
	"testing"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/sample-app/internal/database"
	"github.com/pathlock-go/pathlock/sample-app/internal/testdb"
)

// A database that refuses a login is not the same as one that does not answer.
func TestTroubleSaysWhyADatabaseDoesNotServe(t *testing.T) {
	type trouble struct{ name, url, says string }
	tests := []trouble{
		{"nobody there, MySQL", "mysql://root:hidden@tcp(127.0.0.1:1)/x", "does not answer"},
		{"nobody there, PostgreSQL", "postgres://root:hidden@127.0.0.1:1/x", "does not answer"},
		{"no such folder", "sqlite://" + filepath.Join(t.TempDir(), "none", "db"), "has a file that cannot be used"},
	}
	for _, server := range testserver.MySQLServers(t) {
		cfg, err := mysqldriver.ParseDSN(strings.TrimPrefix(testdb.MySQL(t, server), "mysql://"))
		if err != nil {
			t.Fatal(err)
		}
		stranger, nowhere := cfg.Clone(), cfg.Clone()
		stranger.User, stranger.Passwd, nowhere.DBName = "pathlock_nobody", "hidden", "pathlock_no_such_database"
		tests = append(tests,
			trouble{server.Product + ", no such user", "mysql://" + stranger.FormatDSN(), "refuses the user or the password"},
			trouble{server.Product + ", no such database", "mysql://" + nowhere.FormatDSN(), "has no database of that name"})
	}
	if testserver.Available(testserver.PostgresVariable) {
		url := testserver.Postgres(t)
		tests = append(tests, trouble{"PostgreSQL, no such database", url[:strings.LastIndexByte(url, '/')] + "/pathlock_no_such_database", "has no database of that name"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := testdb.Open(t, tt.url)
			err := db.Ping(t.Context())
			if err == nil || database.Trouble(err) != tt.says {
				t.Errorf("%v: the database %q, want %q", err, database.Trouble(err), tt.says)
			}
			if err != nil && strings.Contains(err.Error(), "hidden") {
				t.Errorf("%v tells the password", err)
			}
		})
	}
}
