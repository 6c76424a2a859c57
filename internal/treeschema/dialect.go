package treeschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treerow"
)

// dialect is a database's dialect, by GORM's name for it.
type dialect string

const (
	mysql    dialect = "mysql"
	postgres dialect = "postgres"
	sqlite   dialect = "sqlite"
)

// dialectOf returns the dialect of a name.
func dialectOf(name string) (dialect, error) {
	if d := dialect(name); slices.Contains([]dialect{mysql, postgres, sqlite}, d) {
		return d, nil
	}
	return "", fmt.Errorf("treeschema: the database dialect %q is not known; known are mysql, postgres, sqlite", name)
}

// quote quotes each part of "schema.table".
func (d dialect) quote(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = d.quote1(part)
	}
	return strings.Join(parts, ".")
}

// quote1 quotes a name that may contain dots.
func (d dialect) quote1(name string) string {
	mark := `"`
	if d == mysql {
		mark = "`"
	}
	return mark + strings.ReplaceAll(name, mark, mark+mark) + mark
}

// noParent is the condition that a row has no parent: NULL, or the zero value of the column's kind.
func (d dialect) noParent(parent column) string {
	of, kind := treerow.Dialect(d), treerow.KindOf(parent.Type)
	if of == treerow.SQLite && (kind == treerow.Number || kind == treerow.Text) {
		of = treerow.MySQL // programs write keys of one kind
	}
	return of.NoParent(d.quote1(parent.Name), kind)
}

// BinaryMySQL returns the collation by which texts differ if their bytes do, on a server of a
// version.
func BinaryMySQL(version string) string {
	if strings.Contains(version, "MariaDB") {
		return "utf8mb4_nopad_bin"
	}
	return "utf8mb4_0900_bin"
}
