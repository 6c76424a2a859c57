package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/pathlock-go/pathlock/internal/dburl"
)

// Scratch creates an empty database beside the one that server names, and returns its URL and a
// function that removes it. For sqlite://, it is a file in a new folder beside the path, or in the
// system's temporary folder if there is no path. For mysql:// and postgres://, it is a database
// whose name begins with the given one's. The database that server names stays as it is.
func Scratch(ctx context.Context, server string) (scratch string, remove func(context.Context) error, err error) {
	scheme, rest, _ := strings.Cut(server, "://")
	switch scheme {
	case "sqlite":
		beside := ""
		if rest != "" {
			beside = filepath.Dir(rest)
		}
		dir, err := os.MkdirTemp(beside, "pathlock-sample-*")
		return "sqlite://" + filepath.Join(dir, "scratch.db"), func(context.Context) error { return os.RemoveAll(dir) }, err
	case "mysql":
		cfg, err := dburl.MySQL(rest)
		if err != nil {
			return "", nil, fmt.Errorf("database: %w", err)
		}
		target := cfg.Clone()
		target.DBName = scratchName(cfg.DBName)
		cfg.DBName = ""
		connector, err := mysqldriver.NewConnector(cfg)
		if err != nil {
			return "", nil, fmt.Errorf("database: %w", err)
		}
		quoted := "`" + strings.ReplaceAll(target.DBName, "`", "``") + "`"
		remove, err := create(ctx, connector, `CREATE DATABASE `+quoted, `DROP DATABASE `+quoted)
		return "mysql://" + target.FormatDSN(), remove, err
	case "postgres", "postgresql":
		cfg, err := parsePostgres(server)
		if err != nil {
			return "", nil, err
		}
		target, err := url.Parse(server)
		if err != nil {
			return "", nil, errors.New("database: the PostgreSQL URL makes no sense: give postgres://user:password@host:5432/name")
		}
		name := scratchName(cfg.Database)
		target.Path = "/" + name
		quoted := pgx.Identifier{name}.Sanitize()
		remove, err := create(ctx, stdlib.GetConnector(*cfg),
			`CREATE DATABASE `+quoted+` TEMPLATE template0 ENCODING 'UTF8'`, `DROP DATABASE `+quoted+` WITH (FORCE)`)
		return target.String(), remove, err
	default:
		return "", nil, Check(server)
	}
}

// scratchName returns a random name that begins with a database's.
func scratchName(database string) string {
	return fmt.Sprintf("%.40s_%s", database, strings.ToLower(rand.Text()[:8]))
}

// create creates a database on a server, and returns what drops it.
func create(ctx context.Context, server driver.Connector, create, drop string) (remove func(context.Context) error, err error) {
	run := func(ctx context.Context, statement string) error {
		pool := sql.OpenDB(server)
		_, err := pool.ExecContext(ctx, statement)
		return errors.Join(err, pool.Close())
	}
	if err := run(ctx, create); err != nil {
		return nil, fmt.Errorf("database: create a scratch database: %w", err)
	}
	return func(ctx context.Context) error { return run(ctx, drop) }, nil
}
