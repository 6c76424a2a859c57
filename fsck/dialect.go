package fsck

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treerow"
)

// Dialect is a database's dialect of SQL.
type Dialect uint8

// The dialects.
const (
	// MySQL is MySQL 8 or later, or MariaDB 10.6 or later.
	MySQL Dialect = iota + 1
	// PostgreSQL is PostgreSQL 13 or later.
	PostgreSQL
	// SQLite is SQLite 3.28 or later, in a file that several connections can open.
	SQLite
)

// String returns the database's name.
func (d Dialect) String() string {
	switch d {
	case MySQL:
		return "MySQL"
	case PostgreSQL:
		return "PostgreSQL"
	case SQLite:
		return "SQLite"
	default:
		return fmt.Sprintf("Dialect(%d)", uint8(d))
	}
}

// rows is package treerow's name for the dialect.
func (d Dialect) rows() treerow.Dialect {
	switch d {
	case MySQL:
		return treerow.MySQL
	case PostgreSQL:
		return treerow.Postgres
	default:
		return treerow.SQLite
	}
}

// differs is the condition that two values differ. Either may be NULL.
func (d Dialect) differs(a, b string) string {
	switch d {
	case MySQL:
		return "NOT (" + a + " <=> " + b + ")"
	case PostgreSQL:
		return a + " IS DISTINCT FROM " + b
	default:
		return a + " IS NOT " + b
	}
}

// quote quotes each part of an identifier such as "schema.table".
func (d Dialect) quote(name string) string {
	mark := `"`
	if d == MySQL {
		mark = "`"
	}
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = mark + strings.ReplaceAll(part, mark, mark+mark) + mark
	}
	return strings.Join(parts, ".")
}

// bind numbers the question marks of a statement for PostgreSQL.
func (d Dialect) bind(query string) string {
	if d != PostgreSQL {
		return query
	}
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r == '?' {
			n++
			b.WriteString("$" + strconv.Itoa(n))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// lock is the end of a SELECT that locks its rows until the transaction ends.
func (d Dialect) lock() string {
	if d == SQLite {
		return "" // the writer is alone
	}
	return " FOR UPDATE"
}

// snapshot are the options of a read-only transaction that sees one state of the database.
func (d Dialect) snapshot() *sql.TxOptions {
	if d == SQLite {
		return &sql.TxOptions{ReadOnly: true}
	}
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}

// writing are the options of a transaction that repairs. It locks the rows that its decisions
// depend on.
func (d Dialect) writing() *sql.TxOptions {
	if d == SQLite {
		return nil
	}
	return &sql.TxOptions{Isolation: sql.LevelReadCommitted}
}
