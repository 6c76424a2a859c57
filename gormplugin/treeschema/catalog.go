package treeschema

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"slices"
	"strings"
)

// sqlFiles are the questions to the databases' catalogues.
//
//go:embed sql/*.sql
var sqlFiles embed.FS

// Conn is what the checks need of a connection: a *sql.DB, *sql.Conn or *sql.Tx. One session is
// asked for its settings, so that a *sql.DB says something about one of its connections only.
type Conn interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// physical is a table as the database has it.
type physical struct {
	exists      bool
	columns     map[string]column
	indexes     []index
	foreignKeys []foreignKey
	triggers    []trigger
	// routines are the bodies of procedures and functions, by name in lower case.
	routines map[string][]routine
	shape    shape
	// schema is the one that the table is in.
	schema string
	// blind says why triggers of the table cannot be seen, "" where they can.
	blind string
	// engine is the storage engine's name, where there is a choice.
	engine string
	// binary is the collation that different texts differ by, where it depends on the server.
	binary string
	// mariaDB is set on MariaDB, short where an index has room for no more than 767 bytes of a
	// column; partitionedBy is what the table is partitioned by.
	mariaDB, short bool
	partitionedBy  string
	// lax is set where the session cuts off what a column has no room for.
	lax bool
	// versioned is set where MariaDB keeps old rows, and wants to be told that a statement changes
	// those, too.
	versioned bool
	// links are the foreign keys that can be seen, those of other tables included.
	links []link
	// linked are the columns that foreign keys tie to one of the table's, by its name.
	linked map[string][]linked
	// referring are the columns that refer to other rows, so that they hold no key of nothing.
	referring map[string]bool
	// mark is a generated column that is NULL for deleted rows, and the same for all live ones; ""
	// if there is none.
	mark string
	// top is a generated column of an earlier attempt that is the tree's id at the top, and NULL
	// elsewhere; "" if there is none.
	top string
	// types is a digest of the columns' types, "" where none is needed, see [physical.asOf].
	types string
	// names are those that a new index cannot have, in lower case.
	names map[string]bool
}

// column is a column as the database has it.
type column struct {
	name string
	// typ is the type as the database spells it, definition the whole definition, where there is a
	// use for it.
	typ, definition string
	// defined is set where the definition is known.
	defined bool
	// charset is the character set of a text, where columns have one.
	charset string
	// length is the maximum in characters, 0 for none; bytes the most that an index needs for the
	// column.
	length, bytes int
	nullable      bool
	// collation is "" for a column that holds no text.
	collation string
	// equal is how the collation treats different texts, asKey how different keys.
	equal, asKey equality
	// generated is the expression of a generated column.
	generated string
	// rowEnd is set for the column in which a system-versioned table of MariaDB has the time up to
	// which a row is valid: it is the same in all rows but old ones.
	rowEnd bool
	// compressed is set where MariaDB compresses the column, and has no index over it.
	compressed bool
	// domain is set for a column of a domain, and its type is then that of the domain.
	domain bool
	// users are what depends on the column, so that PostgreSQL does not let its type be changed.
	users string
}

// equality is how closely a column compares texts.
type equality uint8

const (
	// loosely: by the rules of a language or without regard to case; the order is not that of
	// bytes.
	loosely equality = iota
	// padded: by bytes, but trailing spaces don't count.
	padded
	// ordered: different texts are different, but their order is not that of bytes.
	ordered
	// exactly: by bytes.
	exactly
)

// index is an index as the database has it.
type index struct {
	name    string
	unique  bool
	primary bool
	// nullsEqual is set where a unique index holds two NULLs equal.
	nullsEqual bool
	// constraint is set where the index belongs to a constraint and goes with it.
	constraint bool
	// fulltext is set for an index over words, whose columns have to have one collation.
	fulltext bool
	// idle is set for an index that queries cannot use, or that has no order.
	idle  bool
	parts []part
	// predicate is the condition of a partial index.
	predicate string
}

// part is one part of an index's key: a column, or else an expression.
type part struct {
	column, expression string
	// prefix is how many characters of the column are in the index, 0 for all.
	prefix int
	// ordered is set where the part is in the order of bytes, if it is a text.
	ordered bool
}

// columns are the index's columns; "" for an expression.
func (i index) columns() []string {
	columns := make([]string, len(i.parts))
	for k, p := range i.parts {
		columns[k] = p.column
	}
	return columns
}

// foreignKey is a foreign key that does something by itself when the row that it refers to is
// changed or deleted.
type foreignKey struct {
	name    string
	columns []string
	// actions says what it does, such as "ON DELETE CASCADE".
	actions string
	// empties is set where it overwrites columns with NULL or a default.
	empties bool
	// plain is the constraint's definition without the actions.
	plain string
}

// file returns one of the SQL files.
func file(name string) (string, error) {
	text, err := sqlFiles.ReadFile("sql/" + name)
	if err != nil {
		return "", fmt.Errorf("treeschema: %w", err)
	}
	return string(text), nil
}

// record is one row of an answer, by column name in lower case. NULL is "".
type record map[string]string

// ask runs a query and returns its rows.
func ask(ctx context.Context, conn Conn, query string, args ...any) (records []record, err error) {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values := make([]sql.NullString, len(names))
		targets := make([]any, len(names))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return nil, err
		}
		r := make(record, len(names))
		for i, name := range names {
			r[strings.ToLower(name)] = values[i].String
		}
		records = append(records, r)
	}
	return records, rows.Err()
}

// askFile runs the query of a file.
func askFile(ctx context.Context, conn Conn, name string, args ...any) ([]record, error) {
	query, err := file(name)
	if err != nil {
		return nil, err
	}
	records, err := ask(ctx, conn, query, args...)
	if err != nil {
		return nil, fmt.Errorf("treeschema: %s: %w", name, err)
	}
	return records, nil
}

// is reports whether a value stands for true, as databases spell it.
func (r record) is(name string) bool {
	return slices.Contains([]string{"1", "true", "t", "YES"}, r[name])
}

// freeName returns a name for a new index or column: the table's, then want, and a number behind it
// if that is taken.
func (p *physical) freeName(table, want string) string {
	base := p.baseName(table, want)
	name := base
	for n := 2; p.names[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	return name
}

// baseName is the name of a new index or column, without a number.
func (*physical) baseName(table, want string) string {
	// PostgreSQL's names have 63 bytes, MySQL's 64 characters; the number needs room too.
	const longest = 58
	_, base := splitName(table)
	if room := longest - len(want) - 1; len(base) > room {
		base = strings.ToValidUTF8(base[:room], "")
	}
	return base + "_" + want
}

// splitName splits "schema.table"; the schema may be "".
func splitName(name string) (schema, table string) {
	if schema, table, ok := strings.Cut(name, "."); ok {
		return schema, table
	}
	return "", name
}
