package treeschema

import (
	"context"
	"fmt"

	"github.com/pathlock-go/pathlock/gormplugin/internal/rawsql"
	"github.com/pathlock-go/pathlock/internal/treerow"
)

// dialect reads a database's catalogue and writes the statements that change it.
type dialect interface {
	// name is GORM's.
	name() string
	// server checks the server and the session.
	server(ctx context.Context, conn Conn) ([]Finding, error)
	// read describes a table.
	read(ctx context.Context, conn Conn, table string) (*physical, error)

	// grammar reads the dialect's SQL.
	grammar() *rawsql.Grammar

	// quote quotes a name, which may have a schema in front.
	quote(name string) string
	// cast makes an SQL literal a value of a column's type.
	cast(literal string, c column) string
	// bytes makes a text one that is compared byte by byte.
	bytes(text string) string
	// compares says what it means that a text column compares as it does; ok where nothing is
	// wrong. isName is set for a name, and not set for a path.
	compares(c column, isName bool) (severity Severity, why string, ok bool)

	// primaryKey makes a key the table's primary key.
	primaryKey(t Table, p *physical) []string
	// keeps says what to do where a text column cannot be given another size or collation by a
	// statement, "" where it can.
	keeps(t Table, p *physical, c column, size int) string
	// retype gives a text column a size, 0 for the one it has, and a collation by which different
	// texts are different.
	retype(t Table, p *physical, c column, size int) []string
	// siblings makes a unique index for rows that have a parent.
	siblings(t Table, p *physical) []string
	// topRows makes a unique index for rows that have none.
	topRows(t Table, p *physical) []string
	// uniquePaths makes a unique index over tree and path, for live rows; it leads to the rows
	// below a path, too. Nil means that the database cannot have it.
	uniquePaths(t Table, p *physical, path Text) []string
	// pathIndex makes the index that leads to the rows below a path.
	pathIndex(t Table, p *physical, path Text) []string
	// dropIndex drops an index.
	dropIndex(t Table, i index) []string
	// plainKey replaces a foreign key by one that does nothing by itself. Nil means that SQL cannot
	// do it.
	plainKey(t Table, k foreignKey) []string
	// dropTrigger drops a trigger.
	dropTrigger(tr trigger) []string
}

// noParent is the condition that a row has no parent: NULL, or the zero value of its kind.
func noParent(d dialect, t Table, p *physical) string {
	of, kind := treerow.Dialect(d.name()), treerow.KindOf(p.columns[t.Parent].typ)
	if of == treerow.SQLite && (kind == treerow.Number || kind == treerow.Text) {
		of = treerow.MySQL // keys of one kind, as all programs write them
	}
	return of.NoParent(d.quote(t.Parent), kind)
}

// dialectOf returns the dialect with GORM's name for it.
func dialectOf(name string) (dialect, error) {
	switch name {
	case "mysql":
		return mysql{}, nil
	case "postgres":
		return postgres{}, nil
	case "sqlite":
		return sqlite{}, nil
	default:
		return nil, fmt.Errorf("treeschema: the database dialect %q is not known; known are mysql, postgres, sqlite", name)
	}
}
