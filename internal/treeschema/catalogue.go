package treeschema

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
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

// catalogue is a table as the database has it. The queries return it as JSON, a document for each
// thing.
type catalogue struct {
	exists bool
	// Kind says what the name means if it names no table, such as "a view".
	Kind string `json:"kind"`
	// Engine is the storage engine, Format how it stores rows, and Version the server's, on MySQL
	// and MariaDB.
	Engine  string `json:"engine"`
	Format  string `json:"format"`
	Version string `json:"version"`
	// Hides is set if the session sees other rows or values than the table has.
	Hides flag `json:"hides"`
	// Text is the statement that made the table, on SQLite.
	Text string `json:"text"`

	columns     map[string]Column
	indexes     []index
	foreignKeys []foreignKey
	named       []named
}

// flag is a truth value, however the database writes it in JSON.
type flag bool

// UnmarshalJSON implements [json.Unmarshaler].
func (f *flag) UnmarshalJSON(text []byte) error {
	*f = string(text) == "true" || string(text) == "1"
	return nil
}

// Column is a column as the database has it.
type Column struct {
	Name string `json:"name"`
	// Type is the type as the database spells it.
	Type string `json:"type"`
	// Collation and Charset are "" if the column holds no text.
	Collation string `json:"collation"`
	Charset   string `json:"charset"`
	// Length is the maximum in characters, 0 for none. Bytes is the most that an index needs.
	Length int64 `json:"length"`
	Bytes  int64 `json:"bytes"`
	// Nullable and Key are set if it can be NULL, and if it is part of SQLite's primary key.
	Nullable flag `json:"nullable"`
	// Required is set if an INSERT has to give it.
	Required flag `json:"required"`
	Key      int  `json:"key"`
	// Plain is set if a statement with the type, the collation and Rest keeps all of the
	// definition.
	Plain flag `json:"plain"`
	// Rest is what a statement that gives the column another type has to say again, on MySQL.
	Rest string `json:"rest"`
	// Expression is that of a generated column.
	Expression string `json:"expression"`
	// Equality says which texts are equal.
	Equality equality `json:"equality"`
}

// equality says how a column compares texts; "" if it holds none.
type equality string

const (
	// exact: by bytes.
	exact equality = "exact"
	// unordered: different texts differ, but the order is not that of bytes.
	unordered equality = "unordered"
	// padded: by bytes, but regardless of trailing spaces.
	padded equality = "padded"
	// loose: by the rules of a language, or regardless of case.
	loose equality = "loose"
)

// part is one part of an index's key, with what is true of the whole index.
type part struct {
	Index      string `json:"index"`
	Unique     flag   `json:"unique"`
	Idle       flag   `json:"idle"`
	NullsEqual flag   `json:"nulls_equal"`
	// Condition is that of the rows in the index, "" for all rows.
	Condition string `json:"condition"`
	// Column is "" for an expression.
	Column string `json:"column"`
	// Prefix is how many characters of the column the index holds, 0 for all.
	Prefix int `json:"prefix"`
	// Ordered is set if the part is in the order of bytes.
	Ordered flag `json:"ordered"`
}

// index is an index as the database has it, by the parts of its key. At least the first part has
// the properties of the whole index.
type index []part

// foreignKey is a column of a foreign key.
type foreignKey struct {
	Column string `json:"column"`
	// References is the table that it refers to, "" for its own, with the schema of a hidden one.
	References string `json:"references"`
	OnDelete   string `json:"on_delete"`
	OnUpdate   string `json:"on_update"`
}

// named is something whose name says enough, such as a trigger.
type named struct {
	what string
	Name string `json:"name"`
}

// Present says how much of a table exists.
type Present struct {
	// Exists is set if the name exists, IsTable if it names a table.
	Exists, IsTable bool
	// Hides is set if the session sees other rows or values than the table has.
	Hides bool
	// Columns are in the order of their names.
	Columns []Column
	// Indexes are names.
	Indexes []string
	// Unique are the columns with a unique index of their own, the primary key first.
	Unique []string
	// Together are the columns of each unique index over several.
	Together [][]string
	// Foreign has the columns of foreign keys, with the tables that they refer to.
	Foreign map[string]string
}

// Look returns what exists of the table that statements find by its name.
func Look(ctx context.Context, conn Conn, d *dialect.Dialect, table string) (Present, error) {
	c, err := read(ctx, conn, d, table)
	if err != nil {
		return Present{}, err
	}
	there := Present{Exists: c.exists, IsTable: c.exists && c.Kind == "", Hides: bool(c.Hides), Foreign: make(map[string]string)}
	for _, name := range slices.Sorted(maps.Keys(c.columns)) {
		there.Columns = append(there.Columns, c.columns[name])
	}
	for _, k := range c.foreignKeys {
		there.Foreign[k.Column] = cmp.Or(k.References, table)
	}
	for _, i := range c.indexes {
		there.Indexes = append(there.Indexes, i[0].Index)
		if bool(i[0].Unique) && len(i) == 1 && i[0].Condition == "" && i[0].Prefix == 0 && !slices.Contains(there.Unique, i[0].Column) {
			there.Unique = append(there.Unique, i[0].Column)
		}
		if columns := make([]string, 0, len(i)); bool(i[0].Unique) && len(i) > 1 {
			for _, p := range i {
				columns = append(columns, p.Column)
			}
			there.Together = append(there.Together, columns)
		}
	}
	return there, nil
}

// read describes the table that statements find by a name.
func read(ctx context.Context, conn Conn, d *dialect.Dialect, table string) (*catalogue, error) {
	schema, name := splitName(table)
	args := map[*dialect.Dialect][]any{
		dialect.MySQL: slices.Repeat([]any{schema, name}, 7), dialect.PostgreSQL: {d.Quote(table)}, dialect.SQLite: {name},
	}
	c := &catalogue{columns: make(map[string]Column)}
	records, err := ask(ctx, conn, string(d.Name)+"_table.sql", args[d]...)
	for _, r := range records {
		if err := c.add(r["what"], []byte(r["doc"])); err != nil {
			return nil, fmt.Errorf("treeschema: the table %s: %s: %w", table, r["doc"], err)
		}
	}
	switch d {
	case dialect.MySQL:
		if err == nil && c.exists {
			err = c.readMySQLIndexes(ctx, conn, schema, name)
		}
	case dialect.SQLite:
		c.readSQLiteTexts()
	}
	if err != nil {
		return nil, fmt.Errorf("treeschema: reading the catalogue on %s: %w", table, err)
	}
	return c, nil
}

// add adds what a document describes.
func (c *catalogue) add(what string, doc []byte) (err error) {
	switch what {
	case "table":
		c.exists = true
		err = json.Unmarshal(doc, c)
	case "column":
		var col Column
		err = json.Unmarshal(doc, &col)
		col.Expression = asWritten(col.Expression)
		if col.Charset != "" {
			col.Equality = mysqlEquality(col)
		}
		c.columns[col.Name] = col
	case "part":
		var p part
		err = json.Unmarshal(doc, &p)
		c.addPart(p)
	case "key":
		var k foreignKey
		err = json.Unmarshal(doc, &k)
		c.foreignKeys = append(c.foreignKeys, k)
	default:
		n := named{what: what}
		err = json.Unmarshal(doc, &n)
		c.named = append(c.named, n)
	}
	return err
}

// addPart adds the next part of an index.
func (c *catalogue) addPart(p part) {
	n := len(c.indexes)
	if n == 0 || c.indexes[n-1][0].Index != p.Index {
		c.indexes = append(c.indexes, nil)
		n++
	}
	c.indexes[n-1] = append(c.indexes[n-1], p)
}

// record is one row of an answer.
type record = map[string]string

// ask returns the rows of the query in a file.
func ask(ctx context.Context, conn Conn, file string, args ...any) (records []record, err error) {
	query, err := sqlFiles.ReadFile("sql/" + file)
	if err == nil {
		records, err = Ask(ctx, conn, string(query), args...)
	}
	if err != nil {
		return nil, fmt.Errorf("treeschema: %s: %w", file, err)
	}
	return records, nil
}

// Ask returns the rows of a query, by column name in lower case. NULL is "".
func Ask(ctx context.Context, conn Conn, query string, args ...any) (records []record, err error) {
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
		values, targets := make([]sql.NullString, len(names)), make([]any, len(names))
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

// splitName splits "schema.table"; the schema may be "".
func splitName(name string) (schema, table string) {
	schema, table, ok := strings.Cut(name, ".")
	if !ok {
		return "", name
	}
	return schema, cmp.Or(table, name)
}
