package database_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pathlock-go/pathlock/cmd/pathlock/internal/database"
)

func TestOpen(t *testing.T) {
	for _, tt := range []struct{ url, says string }{
		{"suites.db", "no scheme"},
		{"root:secret@tcp(127.0.0.1:3306)/x", "no scheme"},
		{"postgres://root:sec/secret@host/x", "makes no sense"},
		{"mysql://root:secret@nonsense(127.0.0.1:3306/x?tls=secret", "makes no sense"},
		{"sqlite://", "needs a file"},
		{"mysql://root:secret@tcp(127.0.0.1:3306)/", "names no database"},
		{"postgres://root:secret@host:port/x", "a port from 1 to 65535"},
		{"sqlite://x.db?mode=ro", "no option"},
	} {
		_, _, err := database.Open(tt.url)
		if !errors.Is(err, database.ErrURL) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("Open(%q): %v, want an error that says %q and no secret", tt.url, err, tt.says)
		}
	}
	db, _, err := database.Open("sqlite://" + filepath.Join(t.TempDir(), "none.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.PingContext(t.Context()); err == nil {
		t.Error("Open opened or created a file that did not exist")
	}
}
