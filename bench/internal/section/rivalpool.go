package section

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"

	"github.com/pathlock-go/pathlock/bench/internal/requests"
)

// pool is a pool as package sqlopen bounds one for a file.
func pool(c *requests.Connector) *sql.DB {
	const connections = 4
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db
}

// ask has a MySQL or MariaDB do one statement.
func ask(ctx context.Context, config *mysql.Config, statement string) (err error) {
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}
