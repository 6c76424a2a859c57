package testserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	// The driver of the servers that are asked what they are.
	_ "github.com/go-sql-driver/mysql"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
)

// The products that speak MySQL's protocol and that this project supports.
const (
	MariaDB = "MariaDB"
	Oracle  = "MySQL"
)

// MySQLServer is a server that speaks MySQL's protocol.
type MySQLServer struct {
	// Product is [MariaDB] or [Oracle].
	Product string
	// DSN names it, without a database.
	DSN string
}

// EachMySQL runs a test on a MariaDB and on an Oracle MySQL, as subtests of these names. The
// subtest of a product that there is no server of is skipped; in CI it fails.
func EachMySQL(t *testing.T, test func(t *testing.T, server MySQLServer)) {
	t.Helper()
	servers := mysqlServers(t)
	for _, product := range []string{MariaDB, Oracle} {
		t.Run(product, func(t *testing.T) {
			server, ok := servers[product]
			if !ok {
				Missing(t, missing(product))
			}
			test(t, server)
		})
	}
}

// EachDatabase runs a test on SQLite, on PostgreSQL and on each MySQL, as subtests. The function
// that it gets returns the URL of a new database, or of an SQLite file that is not there yet.
func EachDatabase(t *testing.T, test func(t *testing.T, dialect string, newURL func(t *testing.T) string)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		test(t, "sqlite", func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "app.db") })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		test(t, "postgres", func(t *testing.T) string { return ScratchPostgres(t) })
	})
	EachMySQL(t, func(t *testing.T, server MySQLServer) {
		test(t, "mysql", func(t *testing.T) string { return "mysql://" + server.Scratch(t) })
	})
}

// MySQLServers returns the servers that there are, MariaDB first. In CI the test fails unless there
// is one of each product.
func MySQLServers(t testing.TB) []MySQLServer {
	t.Helper()
	servers := mysqlServers(t)
	var all []MySQLServer
	for _, product := range []string{MariaDB, Oracle} {
		switch server, ok := servers[product]; {
		case ok:
			all = append(all, server)
		case inCI():
			Missing(t, missing(product))
		}
	}
	return all
}

func missing(product string) string {
	return fmt.Sprintf("neither %s nor %s names a %s", MySQLVariable, MariaDBVariable, product)
}

// mysqlServers returns the servers that the environment names, by product.
func mysqlServers(t testing.TB) map[string]MySQLServer {
	t.Helper()
	servers := make(map[string]MySQLServer)
	for _, variable := range []string{MySQLVariable, MariaDBVariable} {
		dsn := os.Getenv(variable)
		if dsn == "" {
			continue
		}
		product, err := Product(t.Context(), dsn)
		testerr.MustBe(t, variable, err, nil)
		if _, twice := servers[product]; twice {
			t.Fatalf("%s and %s both name a %s: tests want one of each product", MySQLVariable, MariaDBVariable, product)
		}
		servers[product] = MySQLServer{product, dsn}
	}
	return servers
}

// Product asks a server what it is: [MariaDB] or [Oracle].
func Product(ctx context.Context, dsn string) (product string, err error) {
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var version string
	if err := db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return "", err
	}
	if strings.Contains(version, MariaDB) {
		return MariaDB, nil
	}
	return Oracle, nil
}

// MySQL returns the DSN of a server of either product, for a test of what does not depend on it, or
// skips the test.
func MySQL(t testing.TB) string {
	t.Helper()
	for _, server := range MySQLServers(t) {
		return server.DSN
	}
	Missing(t, missing("MySQL or MariaDB"))
	return ""
}
