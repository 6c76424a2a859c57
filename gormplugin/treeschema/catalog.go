package treeschema

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// sqlFiles are the queries on the databases' catalogues.
//
//go:embed sql/*.sql
var sqlFiles embed.FS

// Conn is what the checks need of a connection: a *sql.DB, *sql.Conn or *sql.Tx. The checks read
// the settings of one session. With a *sql.DB, that is any one of its connections.
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
	shape       shape
	// schema is the one that the table is in.
	schema string
	// engine is the storage engine's name, if the database has several.
	engine string
	// binary is the collation by which different texts differ, if it depends on the server.
	binary string
	// mariaDB is set on MariaDB.
	mariaDB bool
	// short is set if an index holds at most 767 bytes of a column.
	short bool
	// partitionedBy is the expression that the table is partitioned by.
	partitionedBy string
	// lax is set if the session truncates what a column has no room for.
	lax bool
	// versioned is set if MariaDB keeps old rows. A statement must then say that it changes those,
	// too.
	versioned bool
	// links are the visible foreign keys, those of other tables included.
	links []link
	// linked are, by column of the table, all columns that foreign keys tie to it.
	linked map[string][]linked
	// referring are the columns of foreign keys. They hold NULL or an existing key, never 0.
	referring map[string]bool
	// mark is a generated column that is NULL in deleted rows, and equal in all live ones; "" if
	// there is none.
	mark string
	// top is a generated column, left by an earlier attempt, with the tree's id at the top and NULL
	// elsewhere; "" if there is none.
	top string
	// types is a digest of the columns' types, "" if none is needed, see [physical.asOf].
	types string
	// names are taken, in lower case: a new index cannot have them.
	names map[string]bool
}

func newPhysical() *physical {
	return &physical{columns: make(map[string]column), names: make(map[string]bool)}
}

// column is a column as the database has it.
type column struct {
	name string
	// typ is the type as the database spells it.
	typ string
	// definition is what the column's definition says behind the type, if defined is set.
	definition string
	defined    bool
	// charset is the character set of a text, on MySQL.
	charset string
	// length is the maximum in characters, 0 for none; bytes is the most that an index needs for
	// the column.
	length, bytes int
	nullable      bool
	// collation is "" if the column holds no text.
	collation string
	// equal says how closely the collation compares texts, asKey how closely it compares keys.
	equal, asKey equality
	// generated is the expression of a generated column.
	generated string
	// rowEnd is set for the column of a system-versioned table of MariaDB that says until when a
	// row is valid. All current rows have the same value there.
	rowEnd bool
	// compressed is set if MariaDB compresses the column, which then can be in no index.
	compressed bool
	// domain is set if the column's type is a domain.
	domain bool
	// users are the objects that depend on the column. While there are any, PostgreSQL does not
	// change its type.
	users string
}

// equality says how closely a column compares texts.
type equality uint8

const (
	// loosely: by the rules of a language, or regardless of case. The order is not that of bytes.
	loosely equality = iota
	// padded: by bytes, but regardless of trailing spaces.
	padded
	// ordered: different texts differ, but the order is not that of bytes.
	ordered
	// exactly: by bytes.
	exactly
)

// index is an index as the database has it.
type index struct {
	name    string
	unique  bool
	primary bool
	// nullsEqual is set if a unique index treats two NULLs as equal.
	nullsEqual bool
	// constraint is set if the index belongs to a constraint and is dropped with it.
	constraint bool
	// fulltext is set for an index over words, whose columns must share one collation.
	fulltext bool
	// idle is set if queries cannot use the index, or if it has no order.
	idle  bool
	parts []part
	// predicate is the condition of a partial index.
	predicate string
}

// part is one part of an index's key: a column, or else an expression.
type part struct {
	column, expression string
	// prefix is how many characters of the column the index holds, 0 for all.
	prefix int
	// ordered is set if the part is in the order of bytes. It counts for texts alone.
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

// foreignKey is a foreign key that changes rows when the row that it refers to is changed or
// deleted.
type foreignKey struct {
	name    string
	columns []string
	// actions says how, such as "ON DELETE CASCADE".
	actions string
	// empties is set if it overwrites columns with NULL or a default.
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

// ask returns the rows of a query.
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

// is reports whether a column is true, however the database spells that.
func (r record) is(name string) bool {
	return slices.Contains([]string{"1", "true", "t", "YES"}, r[name])
}

// freeName returns a name for a new index or column: table_want, with a number if that is taken.
func (p *physical) freeName(table, want string) string {
	base := p.baseName(table, want)
	name := base
	for n := 2; p.names[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	return name
}

// baseName is the name of a new index or column, before a number makes it unique.
func (*physical) baseName(table, want string) string {
	// PostgreSQL's names hold 63 bytes, MySQL's 64 characters, and the number needs room, too.
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

// PostgreSQL's drivers prepare a statement once for each connection, and know it by its text. If
// the columns' types have changed since, the server refuses the statement, and with it the rest of
// the transaction. So each statement that returns a table's values carries a digest of the types:
// other types make it another statement.

// asOf adds the digest of the columns' types to a statement that returns their values.
func (p *physical) asOf(query string) string {
	if p.types == "" {
		return query
	}
	return query + " /* " + p.types + " */"
}

// digestOf returns a digest of some values of each record, whatever the records' order.
func digestOf(records []record, names ...string) string {
	lines := make([]string, len(records))
	for i, r := range records {
		values := make([]string, len(names))
		for k, name := range names {
			values[k] = fmt.Sprintf("%q", r[name])
		}
		lines[i] = strings.Join(values, " ")
	}
	slices.Sort(lines)
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(strings.Join(lines, "\n")))
	return fmt.Sprintf("%016x", hash.Sum64())
}
