package database

import (
	"cmp"
	"database/sql"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock/internal/dburl"
)

// openPostgres opens a database on a PostgreSQL server. It sets lock_timeout and application_name
// unless the URL does.
func openPostgres(url string) (*DB, error) {
	cfg, err := parsePostgres(url)
	if err != nil {
		return nil, err
	}
	cfg.ConnectTimeout = cmp.Or(cfg.ConnectTimeout, connectTimeout)
	for name, value := range map[string]string{
		"lock_timeout":     strconv.FormatInt(rowLockWait.Milliseconds(), 10),
		"application_name": "pathlock-sample",
	} {
		if cfg.RuntimeParams[name] == "" {
			cfg.RuntimeParams[name] = value
		}
	}
	db := &DB{
		Dialect: Postgres, Where: fmt.Sprintf("postgres://%s:%d/%s", cfg.Host, cfg.Port, cfg.Database),
		pools: []*sql.DB{poolOf(stdlib.GetConnector(*cfg))},
	}
	return db.finish(func(pool *sql.DB) gorm.Dialector { return postgres.New(postgres.Config{Conn: pool}) })
}

// parsePostgres reads a URL, which has to name a database.
func parsePostgres(url string) (cfg *pgx.ConnConfig, err error) {
	err = dburl.Postgres(url, func(url string) (string, error) {
		if cfg, err = pgx.ParseConfig(url); err != nil {
			return "", err
		}
		return cfg.Database, nil
	})
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return cfg, nil
}
