package gormplugin_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
	"gorm.io/gorm"
)

// pretender plays a server that says what it is, and fails everything else.
type pretender struct {
	// version is its answer; "" is none.
	version string
	// sent are the statements that came, BEGIN included.
	sent []string
}

var errPretended = errors.New("pretended")

func (p *pretender) Connect(context.Context) (driver.Conn, error) { return pretended{p}, nil }
func (p *pretender) Driver() driver.Driver                        { return nil }

// pretended is a connection to a pretender.
type pretended struct{ *pretender }

func (c pretended) Prepare(string) (driver.Stmt, error) { return nil, errPretended }
func (c pretended) Close() error                        { return nil }
func (c pretended) Begin() (driver.Tx, error) {
	c.sent = append(c.sent, "BEGIN")
	return nil, errPretended
}

func (c pretended) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	c.sent = append(c.sent, query)
	if !strings.Contains(strings.ToUpper(query), "VERSION()") || c.version == "" {
		return nil, &mysql.MySQLError{Number: 1064, Message: "pretended"}
	}
	return &oneText{c.version}, nil
}

// oneText is a result of one row and column.
type oneText struct{ text string }

func (r *oneText) Columns() []string { return []string{"version"} }
func (r *oneText) Close() error      { return nil }
func (r *oneText) Next(row []driver.Value) error {
	if r.text == "" {
		return io.EOF
	}
	row[0], r.text = r.text, ""
	return nil
}

// openPretender opens a DB on a server that pretends, with a plugin that is not in use yet.
func openPretender(t *testing.T, dialect, version string, config gorm.Config) (*pretender, *gorm.DB, *gormplugin.Plugin) {
	t.Helper()
	server := &pretender{version: version}
	pool := sql.OpenDB(server)
	t.Cleanup(func() { _ = pool.Close() })
	config.DisableAutomaticPing = true
	db, err := gorm.Open(nowhere{name: dialect, pool: pool}, &config)
	testerr.Must(t, err)
	return server, db, gormplugin.New(pathlock.New(memstore.New()), gormplugin.Model(&tagged{}))
}

// The servers' answers to the plugin's question, and which servers it refuses.
func TestUseKnowsImitations(t *testing.T) {
	for _, c := range []struct{ dialect, version, product string }{
		{"mysql", "8.0.11-TiDB-v8.5.0 TiDB Server (Apache License 2.0) Community Edition, MySQL 8.0 compatible", "TiDB"},
		{"mysql", "5.7.25-OceanBase_CE-v4.2.1.0 OceanBase_CE 4.2.1.0 (r100000102023092807)", "OceanBase"},
		{"mysql", "8.0.30-Vitess Version: 20.0.1", "Vitess"},
		{"mysql", "5.7.32 SingleStoreDB source distribution (compatible; MySQL Enterprise & MySQL Commercial)", "SingleStore"},
		{"postgres", "CockroachDB CCL v24.1.0 (x86_64-pc-linux-gnu, built 2024/05/15 21:28:29, go1.22.2)", "CockroachDB"},
		{"postgres", "PostgreSQL 11.2-YB-2.20.1.3-b0 on x86_64-pc-linux-gnu, compiled by clang version 16.0.6", "YugabyteDB"},
		{"postgres", "PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 20041017, Redshift 1.0.75379", "Redshift"},

		{"postgres", "(openGauss 5.0.0 build a07d57c3) compiled at 2023-03-29 03:37:13 commit 0 last mr", "openGauss"},
		{"postgres", "KingbaseES V008R006C008B0014 on x64, compiled by gcc", "KingbaseES"},

		{"mysql", "8.4.6 MySQL Community Server - GPL", ""},
		{"mysql", "8.0.36-28 Percona Server (GPL), Release 28, Revision 47601f19", ""},
		{"mysql", "11.8.3-MariaDB-ubu2404 mariadb.org binary distribution", ""},
		{"postgres", "PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit", ""},
	} {
		t.Run(c.version, func(t *testing.T) {
			_, db, plugin := openPretender(t, c.dialect, c.version, gorm.Config{})
			err := db.Use(plugin)
			if c.product == "" {
				testerr.Must(t, err)
				return
			}
			refused(t, err, c.product)
		})
	}
}

// refused checks that err names the product, its answer, and the reason.
func refused(t *testing.T, err error, product string) {
	t.Helper()
	found, ok := errors.AsType[*gormplugin.UnsupportedDatabaseError](err)
	if !ok || !errors.Is(err, gormplugin.ErrUnsupportedDatabase) {
		t.Fatalf("got %v, want that %s is unsupported", err, product)
	}
	if found.Product != product || found.Version == "" || found.Why == "" ||
		!strings.Contains(err.Error(), product) || !strings.Contains(err.Error(), found.Why) {
		t.Errorf("%v does not say that it is %s, and why that is refused", err, product)
	}
}

// A DB that has no connection at db.Use is asked when its first transaction begins, and a refused
// one begins none. So are connections that GORM did not open.
func TestUse_findsImitationsLater(t *testing.T) {
	const tidb = "8.0.11-TiDB-v8.5.0 TiDB Server"
	begin := func(db *gorm.DB) error { return db.Transaction(func(*gorm.DB) error { return nil }) }
	t.Run("no answer at first", func(t *testing.T) {
		server, db, plugin := openPretender(t, "mysql", "", gorm.Config{PrepareStmt: true})
		testerr.Must(t, db.Use(plugin))
		server.version, server.sent = tidb, nil
		refused(t, begin(db), "TiDB")
		if slices.Contains(server.sent, "BEGIN") {
			t.Errorf("sent %q", server.sent)
		}
	})
	t.Run("other connections", func(t *testing.T) {
		server, db, plugin := openPretender(t, "mysql", "8.4.6", gorm.Config{})
		testerr.Must(t, db.Use(plugin))
		other := &pretender{version: tidb}
		pool := sql.OpenDB(other)
		t.Cleanup(func() { _ = pool.Close() })
		_, err := plugin.Pool(pool).(gorm.ConnPoolBeginner).BeginTx(t.Context(), nil)
		refused(t, err, "TiDB")
		server.sent = nil
		if err := begin(db); !errors.Is(err, errPretended) || !slices.Equal(server.sent, []string{"BEGIN"}) {
			t.Errorf("the first server got %q (%v), want nothing but BEGIN", server.sent, err)
		}
	})
}
