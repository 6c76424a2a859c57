package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/idempotencytest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
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
	config, err := pgx.ParseConfig(testserver.Postgres(t))
	testerr.Must(t, err)
	administer := func(ctx context.Context, statement string) {
		admin := stdlib.OpenDB(*config)
		defer func() { _ = admin.Close() }()
		testerr.None(t, testerr.Of(admin.ExecContext(ctx, statement)))
	}
	scratch := func() string {
		name := fmt.Sprintf("pathlock_idempotency_%d", rand.Uint64())
		administer(t.Context(), "CREATE DATABASE "+name)
		t.Cleanup(func() { administer(context.Background(), "DROP DATABASE "+name) })
		return fmt.Sprintf("host=%s port=%d user=%s password='%s' dbname=%s sslmode=disable", config.Host, config.Port, config.User, config.Password, name)
	}
	idempotencytest.Run(t, idempotencytest.Database{URL: scratch(), Other: scratch(), Dialector: dialectorOf})
}
