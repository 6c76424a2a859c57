package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/fsck"
)

// Rows has the flags that name the rows of a table with trees.
type Rows struct {
	DB         string `help:"Database: sqlite://PATH, mysql://user:password@tcp(host:3306)/name or postgres://user:password@host:5432/name." env:"PATHLOCK_DB" placeholder:"URL" group:"Nodes by key:"`
	Table      string `help:"Table that holds the trees: suites or schema.suites." placeholder:"NAME" group:"Nodes by key:"`
	Key        string `help:"Column of the primary key (default: id)." default:"id" placeholder:"NAME" group:"Nodes by key:"`
	TreeColumn string `help:"Column of the tree's id (default: plan_id)." default:"plan_id" placeholder:"NAME" group:"Nodes by key:"`
	Path       string `help:"Column of the path, such as /a/b (default: path)." default:"path" placeholder:"NAME" group:"Nodes by key:"`
}

// Locate returns the tree's id and the path of the row with a key, deleted or not.
func (r Rows) Locate(ctx context.Context, key string) (tree, path string, err error) {
	db, dialect, err := Open(r.DB)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	mark, placeholder := `"`, "?"
	switch dialect {
	case fsck.MySQL:
		mark = "`"
	case fsck.PostgreSQL:
		placeholder = "$1"
	}
	quote := func(name string) string {
		parts := strings.Split(name, ".")
		for i, part := range parts {
			parts[i] = mark + strings.ReplaceAll(part, mark, mark+mark) + mark
		}
		return strings.Join(parts, ".")
	}
	var value any = key
	if dialect == fsck.MySQL {
		question := fmt.Sprintf("SELECT %s FROM %s WHERE 1 = 0", quote(r.Key), quote(r.Table))
		if value, err = exactKey(ctx, db, question, key); err != nil {
			return "", "", fmt.Errorf("looking for row %s of %q: %w", key, r.Table, err)
		}
	}
	query := fmt.Sprintf("SELECT %s, %s FROM %s WHERE %s = %s", quote(r.TreeColumn), quote(r.Path), quote(r.Table), quote(r.Key), placeholder)
	err = db.QueryRowContext(ctx, query, value).Scan(&tree, &path)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", "", fmt.Errorf("%q has no row whose %q is %s", r.Table, r.Key, key)
	case err != nil:
		return "", "", fmt.Errorf("looking for row %s of %q: %w", key, r.Table, err)
	}
	return tree, path, nil
}

// exactKey returns a key as MySQL has to be asked for it: for a column of numbers, it takes 2x
// for 2, and compares large numbers as texts inexactly. question selects the column.
func exactKey(ctx context.Context, db *sql.DB, question, key string) (any, error) {
	rows, err := db.QueryContext(ctx, question)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.ColumnTypes()
	if err = errors.Join(err, rows.Err()); err != nil {
		return nil, err
	}
	kind := strings.ToUpper(columns[0].DatabaseTypeName())
	for _, number := range []string{"INT", "DECIMAL", "NUMERIC", "FLOAT", "DOUBLE", "YEAR", "BIT"} {
		if !strings.Contains(kind, number) {
			continue
		}
		if n, err := strconv.ParseInt(key, 10, 64); err == nil {
			return n, nil
		}
		if n, err := strconv.ParseUint(key, 10, 64); err == nil {
			return n, nil
		}
		return nil, fmt.Errorf("%q is no integer, and the column's type is %s", key, kind)
	}
	return key, nil
}
