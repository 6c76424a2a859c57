package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/pathlock-go/pathlock/internal/dburl"
)

// Scratch creates an empty database beside the one that server names, and returns its URL and a
// function that removes it. For sqlite://, it is a file in a new folder beside the path, or in the
// system's temporary folder if there is no path. For mysql:// and postgres://, it is a database
// whose name begins with the given one's. The database that server names stays as it is.
func Scratch(ctx context.Context, server string) (scratch string, remove func(context.Context) error, err error) {
	if path, ok := strings.CutPrefix(server, "sqlite://"); ok {
		return scratchFile(path)
	}
	if dsn, ok := strings.CutPrefix(server, "mysql://"); ok {
		return scratchSchema(ctx, dsn)
	}
	if strings.HasPrefix(server, "postgres://") || strings.HasPrefix(server, "postgresql://") {
		return scratchPostgres(ctx, server)
	}
	return "", nil, Check(server)
}

func scratchFile(path string) (string, func(context.Context) error, error) {
	beside := ""
	if path != "" {
		beside = filepath.Dir(path)
	}
	dir, err := os.MkdirTemp(beside, "pathlock-sample-*")
	if err != nil {
		return "", nil, fmt.Errorf("database: scratch: %w", err)
	}
	return "sqlite://" + filepath.Join(dir, "scratch.db"), func(context.Context) error { return os.RemoveAll(dir) }, nil
}

func scratchSchema(ctx context.Context, dsn string) (string, func(context.Context) error, error) {
	cfg, err := dburl.MySQL(dsn)
	if err != nil {
		return "", nil, fmt.Errorf("database: %w", err)
	}
	name := scratchName(cfg.DBName)
	quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
	cfg.DBName = ""
	if err := onServer(ctx, cfg, `CREATE DATABASE `+quoted); err != nil {
		return "", nil, fmt.Errorf("database: create the scratch database %s: %w", name, err)
	}
	target := cfg.Clone()
	target.DBName = name
	return "mysql://" + target.FormatDSN(), func(ctx context.Context) error {
		return onServer(ctx, cfg, `DROP DATABASE `+quoted)
	}, nil
}

// scratchName returns a random name that begins with a database's.
func scratchName(database string) string {
	return fmt.Sprintf("%.40s_%s", database, strings.ToLower(rand.Text()[:8]))
}

func scratchPostgres(ctx context.Context, server string) (string, func(context.Context) error, error) {
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
	run := func(ctx context.Context, statement string) (err error) {
		conn, err := pgx.ConnectConfig(ctx, cfg)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, conn.Close(ctx)) }()
		_, err = conn.Exec(ctx, statement)
		return err
	}
	if err := run(ctx, `CREATE DATABASE `+quoted+` TEMPLATE template0 ENCODING 'UTF8'`); err != nil {
		return "", nil, fmt.Errorf("database: create the scratch database %s: %w", name, err)
	}
	return target.String(), func(ctx context.Context) error { return run(ctx, `DROP DATABASE `+quoted+` WITH (FORCE)`) }, nil
}

// onServer runs one statement.
func onServer(ctx context.Context, cfg *mysqldriver.Config, statement string) (err error) {
	connector, err := mysqldriver.NewConnector(cfg)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, pool.Close()) }()
	_, err = pool.ExecContext(ctx, statement)
	return err
}
