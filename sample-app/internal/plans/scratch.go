package plans

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/pathlock-go/pathlock/store/sqlstore"
	"github.com/pathlock-go/pathlock/store/sqlstore/sqlopen"
)

// Scratch creates an empty database beside the one that server names, and returns its URL and a
// function that removes it. For sqlite://, it is a file in a new folder beside the path, or in the
// system's temporary folder if there is no path. For mysql:// and postgres://, it is a database
// whose name begins with the given one's. The database that server names stays as it is.
func Scratch(ctx context.Context, server string) (scratch string, remove func(context.Context) error, err error) {
	if path, ok := strings.CutPrefix(server, "sqlite://"); ok {
		beside := ""
		if path != "" {
			beside = filepath.Dir(path)
		}
		dir, err := os.MkdirTemp(beside, "pathlock-sample-*")
		return "sqlite://" + filepath.Join(dir, "scratch.db"), func(context.Context) error { return os.RemoveAll(dir) }, err
	}
	d, err := sqlopen.Parse(server)
	if err != nil {
		return "", nil, err
	}
	run := func(ctx context.Context, statement string) error {
		pool, err := d.Open()
		if err != nil {
			return err
		}
		_, err = pool.ExecContext(ctx, statement)
		return errors.Join(err, pool.Close())
	}
	suffix := "_" + strings.ToLower(rand.Text()[:8])
	var create, drop string
	if d.Dialect == sqlstore.MySQL {
		name := fmt.Sprintf("%.40s", d.MySQL.DBName) + suffix
		d.MySQL.DBName = "" // which need not exist
		slash := strings.LastIndexByte(server, '/')
		_, options, _ := strings.Cut(server[slash:], "?")
		scratch = server[:slash+1] + name + "?" + options
		quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
		create, drop = `CREATE DATABASE `+quoted, `DROP DATABASE `+quoted
	} else {
		beside, err := url.Parse(server)
		if err != nil {
			return "", nil, errors.New("database: the PostgreSQL URL makes no sense: give postgres://user:password@host:5432/name")
		}
		beside.Path = "/" + fmt.Sprintf("%.40s", d.Postgres.Database) + suffix
		scratch = beside.String()
		quoted := pgx.Identifier{beside.Path[1:]}.Sanitize()
		create, drop = `CREATE DATABASE `+quoted+` TEMPLATE template0 ENCODING 'UTF8'`, `DROP DATABASE `+quoted+` WITH (FORCE)`
	}
	if err := run(ctx, create); err != nil {
		return "", nil, fmt.Errorf("database: create a scratch database: %w", err)
	}
	return scratch, func(ctx context.Context) error { return run(ctx, drop) }, nil
}
