package bench

import (
	"context"
	"crypto/rand"
	"database/sql"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// databaseOn creates a database on a MySQL or MariaDB, and returns its DSN.
func databaseOn(b *testing.B, server string) string {
	b.Helper()
	config, err := mysql.ParseDSN(server)
	testerr.Must(b, err)
	pool := openPool(b, server)
	config.DBName = "pathlock_bench_" + strings.ToLower(rand.Text()[:8])
	testerr.Must(b, testerr.Of(pool.ExecContext(b.Context(), "CREATE DATABASE "+config.DBName+" CHARACTER SET utf8mb4")))
	b.Cleanup(func() { _, _ = pool.ExecContext(context.Background(), "DROP DATABASE "+config.DBName) })
	return config.FormatDSN()
}

func openPool(b *testing.B, dsn string) *sql.DB {
	b.Helper()
	pool, err := sql.Open("mysql", dsn)
	testerr.Must(b, err)
	b.Cleanup(func() { _ = pool.Close() })
	return pool
}

// durable is a MariaDB that waits for the disk at each commit.
type durable struct {
	dsn  string
	pool *sql.DB
}

// durableDatabase has the server wait for the disk until the benchmark ends.
func durableDatabase(b *testing.B) durable {
	b.Helper()
	const flush = "innodb_flush_log_at_trx_commit"
	d := durable{dsn: testserver.MySQL(b)}
	d.pool = openPool(b, d.dsn)
	var was string
	testerr.Must(b, d.pool.QueryRowContext(b.Context(), "SELECT @@GLOBAL."+flush).Scan(&was))
	testerr.Must(b, testerr.Of(d.pool.ExecContext(b.Context(), "SET GLOBAL "+flush+" = 1")))
	b.Cleanup(func() { _, _ = d.pool.ExecContext(context.Background(), "SET GLOBAL "+flush+" = "+was) })
	return d
}

// statements returns how many the server has been sent.
func (d durable) statements(b *testing.B) (n int64) {
	b.Helper()
	var name string
	testerr.Must(b, d.pool.QueryRowContext(b.Context(), "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n))
	return n
}
