package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	mysqldriver "github.com/go-sql-driver/mysql"
)

// Scratch makes an empty database beside the one that url names, and returns its URL
// and what removes it again: a file in a folder of its own for sqlite://, a database whose name begins with the
// given one's for mysql://. The database that url names is not touched; with
// sqlite:// and no path, the file is among the system's temporary ones.
func Scratch(ctx context.Context, url string) (scratch string, remove func(context.Context) error, err error) {
	if path, ok := strings.CutPrefix(url, "sqlite://"); ok {
		return scratchFile(path)
	}
	dsn, ok := strings.CutPrefix(url, "mysql://")
	if !ok {
		_, err := Open(url, Options{})
		return "", nil, err
	}
	return scratchSchema(ctx, dsn)
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
	cfg, err := mysqldriver.ParseDSN(dsn)
	if err != nil || cfg.DBName == "" {
		_, err := openMySQL(dsn, 1)
		return "", nil, err
	}
	name := fmt.Sprintf("%.40s_%s", cfg.DBName, strings.ToLower(rand.Text()[:8]))
	quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
	cfg.DBName = ""
	if err := onServer(ctx, cfg, `CREATE DATABASE `+quoted); err != nil {
		return "", nil, fmt.Errorf("database: create the scratch database %s: %w", name, err)
	}
	own := cfg.Clone()
	own.DBName = name
	return "mysql://" + own.FormatDSN(), func(ctx context.Context) error {
		return onServer(ctx, cfg, `DROP DATABASE `+quoted)
	}, nil
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
