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

// exact makes a text compare byte by byte, whatever its column's collation.
func (d Dialect) exact(text string) string {
	switch d {
	case MySQL:
		return "CAST(CONVERT(" + text + " USING utf8mb4) AS BINARY)"
	case PostgreSQL:
		return "(" + text + `) COLLATE "C"`
	default:
		return "(" + text + ") COLLATE BINARY"
	}
}

// concat joins texts.
func (d Dialect) concat(texts ...string) string {
	if d == MySQL {
		return "CONCAT(" + strings.Join(texts, ", ") + ")"
	}
	return strings.Join(texts, " || ")
}

// ending is the end of a text: one character more than another text has.
func (d Dialect) ending(text, other string) string {
	switch d {
	case MySQL:
		return "RIGHT(" + text + ", CHAR_LENGTH(" + other + ") + 1)"
	case PostgreSQL:
		return "RIGHT(" + text + ", LENGTH(" + other + ") + 1)"
	default:
		return "SUBSTR(" + text + ", -(LENGTH(" + other + ") + 1))"
	}
}

// byPrimaryKey follows a table's name to read the rows in the order of their keys. A scan in pages
// then costs one reading of the table, and no sort for each page.
func (d Dialect) byPrimaryKey() string {
	if d == MySQL {
		return " FORCE INDEX (PRIMARY)"
	}
	return ""
}

// lock is the end of a SELECT that locks the rows of alias until the transaction ends.
func (d Dialect) lock(alias string) string {
	switch d {
	case MySQL:
		return " FOR UPDATE"
	case PostgreSQL:
		return " FOR UPDATE OF " + alias
	default:
		return "" // the writer is alone
	}
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
