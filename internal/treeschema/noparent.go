package treeschema

import (
	"strings"

	"github.com/pathlock-go/pathlock/internal/sqldialect"
	"github.com/pathlock-go/pathlock/internal/treerow"
)

// noParent is the condition that a row has no parent: NULL, or the zero value of the column's kind.
func (c *checker) noParent(parent Column) string {
	of, kind := treerow.Dialect(c.dialect.Name), treerow.KindOf(parent.Type)
	if of == treerow.SQLite && (kind == treerow.Number || kind == treerow.Text) {
		of = treerow.MySQL // programs write keys of one kind
	}
	return of.NoParent(c.dialect.QuotePart(parent.Name), kind)
}

// isMySQL reports whether the table is on MySQL or MariaDB.
func (c *checker) isMySQL() bool { return c.dialect == sqldialect.MySQL }

// BinaryMySQL returns the collation by which texts differ if their bytes do, on a server of a
// version.
func BinaryMySQL(version string) string {
	if strings.Contains(version, "MariaDB") {
		return "utf8mb4_nopad_bin"
	}
	return "utf8mb4_0900_bin"
}
