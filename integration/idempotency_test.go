package integration

import (
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/idempotencytest"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
)

// dialectorOf knows the kind of database by its URL.
func dialectorOf(url string) gorm.Dialector {
	if strings.HasPrefix(url, "file:") {
		return gormlite.Open(url)
	}
	return postgres.Open(url)
}

func TestIdempotencyOnSQLite(t *testing.T) {
	d := idempotencytest.Database{URL: databases.SQLiteFile(t, "&_txlock=immediate"), Other: databases.SQLiteFile(t, "&_txlock=immediate"), Dialector: dialectorOf}
	idempotencytest.Run(t, d)
	idempotencytest.RunHTTP(t, d)
}

func TestIdempotencyOnPostgres(t *testing.T) {
	t.Parallel()
	idempotencytest.Run(t, idempotencytest.Database{URL: testserver.ScratchPostgres(t), Other: testserver.ScratchPostgres(t), Dialector: dialectorOf})
}
