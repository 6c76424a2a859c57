package treeschema

import (
	"context"
	"fmt"
	"strings"

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

	// quote quotes a name, which may have a schema in front.
	quote(name string) string
	// cast makes an SQL literal a value of a column's type.
	cast(literal string, c column) string
	// bytes makes an expression compare byte by byte.
	bytes(text string) string
	// compares judges how a text column compares: ok, or how bad that is and why. isName tells a
	// name from a path.
	compares(c column, isName bool) (severity Severity, why string, ok bool)

	// primaryKey makes a key the table's primary key.
	primaryKey(t Table, p *physical) []string
	// keeps says what to do if no statement can change a text column's size or collation, "" if one
	// can.
	keeps(t Table, p *physical, c column, size int) string
	// retype gives a text column a size, 0 for the one that it has, and a collation by which
	// different texts differ.
	retype(t Table, p *physical, c column, size int) []string
	// siblings makes a unique index for rows with a parent.
	siblings(t Table, p *physical) []string
	// topRows makes a unique index for rows without one.
	topRows(t Table, p *physical) []string
	// uniquePaths makes a unique index over tree and path of live rows, which also finds the rows
	// below a path. Nil means that the database cannot have it.
	uniquePaths(t Table, p *physical, path Text, name string) []string
	// pathIndex makes the index that finds the rows below a path.
	pathIndex(t Table, p *physical, path Text) []string
	// dropIndex drops an index.
	dropIndex(t Table, i index) []string
	// renameIndex renames an index. Nil means that the database cannot.
	renameIndex(t Table, from, to string) []string
	// plainKey replaces a foreign key by one without actions. Nil means that SQL cannot do that.
	plainKey(t Table, k foreignKey) []string
}

// noParent is the condition that a row has no parent: NULL, or the zero value of the column's kind.
func noParent(d dialect, t Table, p *physical) string {
	of, kind := treerow.Dialect(d.name()), treerow.KindOf(p.columns[t.Parent].typ)
	if of == treerow.SQLite && (kind == treerow.Number || kind == treerow.Text) {
		of = treerow.MySQL // programs write keys of one kind
	}
	return of.NoParent(d.quote(t.Parent), kind)
}

// quoteParts quotes each part of "schema.table" in marks.
func quoteParts(name, mark string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		parts[i] = quoteIn(part, mark)
	}
	return strings.Join(parts, ".")
}

// quoteIn quotes a name in marks.
func quoteIn(name, mark string) string {
	return mark + strings.ReplaceAll(name, mark, mark+mark) + mark
}

// dialectOf returns the dialect with GORM's name for it.
func dialectOf(name string) (dialect, error) {
	for _, d := range []dialect{mysql{}, postgres{}, sqlite{}} {
		if d.name() == name {
			return d, nil
		}
	}
	return nil, fmt.Errorf("treeschema: the database dialect %q is not known; known are mysql, postgres, sqlite", name)
}
