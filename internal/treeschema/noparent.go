package treeschema

import (
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
)

// noParent is the condition that a row has no parent: NULL, or the zero value of the column's kind.
func (c *checker) noParent(parent Column) string {
	return c.dialect.NoParentOfKind(c.dialect.QuotePart(parent.Name), dialect.KindOf(parent.Type))
}

// isMySQL reports whether the table is on MySQL or MariaDB.
func (c *checker) isMySQL() bool { return c.dialect == dialect.MySQL }

// BinaryMySQL returns the collation by which texts differ if their bytes do, on a server of a
// version.
func BinaryMySQL(version string) string {
	if strings.Contains(version, "MariaDB") {
		return "utf8mb4_nopad_bin"
	}
	return "utf8mb4_0900_bin"
}
