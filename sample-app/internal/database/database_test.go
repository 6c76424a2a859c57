package database_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/sample-app/internal/database"
)

func TestOpen(t *testing.T) {
	tests := []struct{ url, where, err string }{
		{url: "sqlite://some.db", where: "sqlite://some.db"},
		{url: "mysql://user:secret@tcp(db.example:3306)/testplan", where: "mysql://db.example:3306/testplan"},
		{url: "postgresql://user:secret@db.example:5433/testplan?sslmode=disable", where: "postgres://db.example:5433/testplan"},
		// A password may have any characters, percent-encoded in a PostgreSQL URL.
		{url: "mysql://u:p/#?@%:()secret@tcp(127.0.0.1:3306)/x", where: "mysql://127.0.0.1:3306/x"},
		{url: "postgres://u:p%2F%23%3F%40%25%3Asecret@127.0.0.1:5432/x", where: "postgres://127.0.0.1:5432/x"},
		{url: "sqlite://", err: "sqlite://PATH"},
		{url: "mysql://user:secret@tcp(db.example:3306)/", err: "names no database"},
		{url: "mysql://user:secret@db.example", err: "makes no sense"},
		{url: "sqlite://some.db?mode=ro", err: "no option"},
		{url: "postgres://user:secret@127.0.0.1/testplan?sslmode=odd", err: "sslmode is invalid"},
		{url: "postgres://user:secret@127.0.0.1:1/", err: "names no database"},
		{url: "oracle://user:secret@db.example", err: "supported are sqlite://, mysql:// and postgres://"},
		{url: "some.db", err: "no scheme"},
	}
	for _, tt := range tests {
		db, err := database.Open(tt.url)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("Open(%q): error %v, want one that says %q and no secret", tt.url, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("Open(%q): %v", tt.url, err)
			continue
		}
		if db.Where != tt.where {
			t.Errorf("Open(%q) says it is %q, want %q", tt.url, db.Where, tt.where)
		}
		if err := db.Close(); err != nil {
			t.Errorf("Close of %q: %v", tt.url, err)
		}
	}
}

// A limit holds for connections to servers. A file keeps its one writer.
func TestLimit_OfServers(t *testing.T) {
	for url, want := range map[string]int{
		"mysql://user@tcp(db.example:3306)/x": 3, "postgres://user@db.example/x": 3, "sqlite://" + filepath.Join(t.TempDir(), "test.db"): 1,
	} {
		db, err := database.Open(url)
		if err != nil {
			t.Fatal(err)
		}
		db.Limit(3)
		if got := db.Pool().Stats().MaxOpenConnections; got != want {
			t.Errorf("%s: at most %d connections, want %d", url, got, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Reads work while a transaction writes, and the reading connections cannot write.
func TestSQLiteReadsBesideWriter(t *testing.T) {
	db, err := database.Open("sqlite://" + filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Write.Exec(`CREATE TABLE t (id INTEGER)`).Error; err != nil {
		t.Fatal(err)
	}
	tx := db.Write.Begin()
	defer tx.Rollback()
	if err := tx.Exec(`INSERT INTO t VALUES (1)`).Error; err != nil {
		t.Fatal(err)
	}
	var n int64
	if err := db.Read.Table("t").Count(&n).Error; err != nil || n != 0 {
		t.Errorf("a reader beside the writer sees %d rows and %v, want none and no error", n, err)
	}
	if err := db.Read.Exec(`INSERT INTO t VALUES (2)`).Error; err == nil {
		t.Error("the pool that reads has written")
	}
}
