package sqlopen_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ url, shown, err string }{
		{url: "sqlite://some.db", shown: "sqlite://some.db"},
		{url: "mysql://user:secret@tcp(db.example:3306)/testplan", shown: "mysql://db.example:3306/testplan"},
		{url: "postgresql://user:secret@db.example:5433/testplan?sslmode=disable", shown: "postgres://db.example:5433/testplan"},
		// A password may have any characters, percent-encoded in a PostgreSQL URL.
		{url: "mysql://u:p/#?@%:()secret@tcp(127.0.0.1:3306)/x", shown: "mysql://127.0.0.1:3306/x"},
		{url: "postgres://u:p%2F%23%3F%40%25%3Asecret@127.0.0.1:5432/x", shown: "postgres://127.0.0.1:5432/x"},

		{url: "some.db", err: "no scheme"},
		{url: "root:secret@tcp(127.0.0.1:3306)/x", err: "no scheme"},
		{url: "oracle://user:secret@db.example", err: "scheme is unknown: give sqlite://PATH, mysql://"},
		{url: "sqlite://", err: "needs a file"},
		{url: "sqlite://some.db?mode=ro", err: `no option "mode"`},
		{url: "mysql://user:secret@tcp(db.example:3306)/", err: "names no database"},
		{url: "mysql://user:secret@db.example", err: "makes no sense"},
		{url: "mysql://root:secret@nonsense(127.0.0.1:3306/x?tls=secret", err: "makes no sense"},
		{url: "mysql://root:secret@tcp(127.0.0.1:3306)/x?readTimeout=secret", err: "the MySQL DSN's option readTimeout makes no sense"},
		{url: "mysql://root:secret@tcp(127.0.0.1:port)/x", err: "a port from 1 to 65535"},
		{url: "postgres://user:secret@127.0.0.1/testplan?sslmode=odd", err: "sslmode is invalid"},
		{url: "postgres://user:secret@127.0.0.1:1/", err: "names no database"},
		{url: "postgres://root:sec/secret@host/x", err: "makes no sense"},
		{url: "postgres://root:secret@host:port/x", err: "a port from 1 to 65535"},
	} {
		d, err := sqlopen.Parse(tt.url)
		switch {
		case tt.err != "":
			if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("Parse(%q): %v, want an error that says %q and no secret", tt.url, err, tt.err)
			}
		case err != nil:
			t.Errorf("Parse(%q): %v", tt.url, err)
		case d.String() != tt.shown:
			t.Errorf("Parse(%q) is shown as %v, want %q", tt.url, d, tt.shown)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
