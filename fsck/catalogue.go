package fsck

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treerow"
)

// catalogue is the table in its database: how to reach it, and what inspect learned about it.
type catalogue struct {
	db      *sql.DB
	dialect Dialect
	table   Table
	// kinds says what each column holds, limits how long its texts may be. PostgreSQL pads the
	// padded ones.
	kinds  map[string]treerow.Kind
	padded map[string]bool
	limits map[string]limit
}

// columns are the table's quoted columns, prefixed by an alias.
type columns struct {
	key, tree, parent, name, path, idPath string
	// live and isTop are conditions.
	live, isTop string
}

// columnsAs returns the columns of the rows called alias.
func (c *catalogue) columnsAs(alias string) columns {
	column := func(name string) string {
		if name == "" {
			return "NULL"
		}
		return alias + "." + c.dialect.quote(name)
	}
	t := c.table
	cols := columns{
		key: column(t.Key), tree: column(t.Tree), parent: column(t.Parent), name: column(t.Name),
		path: column(t.Path), idPath: column(t.IDPath), live: "1 = 1",
	}
	d := c.dialect.rows()
	if mark := t.Deleted; mark != "" {
		cols.live = d.Live(column(mark), c.kinds[mark])
	}
	cols.isTop = d.NoParent(cols.parent, c.kinds[t.Parent])
	return cols
}

// readKey returns the key that a driver's value of a column stands for.
func (c *catalogue) readKey(column string, value any) (Key, error) {
	kind := c.kinds[column]
	switch v := value.(type) {
	case nil:
		return Key{}, nil
	case int64:
		return Key{v}, nil
	case uint64:
		if v <= math.MaxInt64 {
			return Key{int64(v)}, nil
		}
		return Key{v}, nil
	case float64:
		if n := int64(v); float64(n) == v {
			return Key{n}, nil
		}
		return Key{}, fmt.Errorf("%w %q: %q has %v, which is no whole number: change it by hand", ErrTable, c.table.Table, column, v)
	case string:
		return c.textKey(column, v), nil
	case []byte:
		// The MySQL driver returns texts as bytes.
		if c.dialect == MySQL && kind != treerow.Bytes {
			return c.textKey(column, string(v)), nil
		}
		return Key{binaryKey(v)}, nil
	case [16]byte:
		return Key{fmt.Sprintf("%x-%x-%x-%x-%x", v[0:4], v[4:6], v[6:8], v[8:10], v[10:16])}, nil
	}
	return Key{}, fmt.Errorf("fsck: a key cannot be a %T", value)
}

// textKey returns the key that a text stands for. Some drivers return numbers as text.
func (c *catalogue) textKey(column, text string) Key {
	if c.kinds[column] == treerow.Number && c.dialect != SQLite {
		if k, ok := numberKey(text); ok {
			return k
		}
	}
	if c.padded[column] {
		text = strings.TrimRight(text, " ")
	}
	return Key{text}
}

// unpad removes the spaces with which PostgreSQL pads a CHAR(n), and which it ignores itself.
func (c *catalogue) unpad(column string, text *string) {
	if text != nil && c.padded[column] {
		*text = strings.TrimRight(*text, " ")
	}
}

// treeArg returns the id of a tree as an argument of a statement. A caller may have given a number
// as text, and bytes in hexadecimal.
func (c *catalogue) treeArg(tree Key) any {
	text, isText := tree.v.(string)
	if !isText {
		return tree.arg()
	}
	switch c.kinds[c.table.Tree] {
	case treerow.Number:
		if k, ok := numberKey(text); ok {
			return k.arg()
		}
	case treerow.Bytes:
		if b, err := hex.DecodeString(strings.ReplaceAll(text, "-", "")); err == nil {
			return b
		}
	}
	return text
}

// inspect asks the database for the columns' types and lengths.
func (c *catalogue) inspect(ctx context.Context) error {
	c.kinds, c.padded, c.limits = make(map[string]treerow.Kind), make(map[string]bool), make(map[string]limit)
	if err := c.db.PingContext(ctx); err != nil {
		return fmt.Errorf("fsck: connect to the database: %w", err)
	}
	types, err := c.columnTypes(ctx)
	if err != nil {
		return fmt.Errorf("%w %q: %w", ErrTable, c.table.Table, err)
	}
	for _, column := range c.table.described() {
		if column.name == "" {
			continue
		}
		i := slices.IndexFunc(types, func(t *sql.ColumnType) bool {
			return t.Name() == column.name || c.dialect != PostgreSQL && strings.EqualFold(t.Name(), column.name)
		})
		if i < 0 {
			return fmt.Errorf("%w %q: the %s, %q: %w", ErrTable, c.table.Table, column.what, column.name, ErrNoColumn)
		}
		typ := types[i].DatabaseTypeName()
		c.kinds[column.name], c.padded[column.name] = treerow.KindOf(typ), typ == "BPCHAR" // PostgreSQL's CHAR(n)
	}
	if c.dialect == SQLite {
		return nil // its columns have no limits
	}
	if err := c.inspectSession(ctx); err != nil {
		return err
	}
	if err := c.inspectLimits(ctx); err != nil {
		return fmt.Errorf("%w %q: the columns' lengths: %w", ErrTable, c.table.Table, err)
	}
	return nil
}

func (c *catalogue) columnTypes(ctx context.Context) (types []*sql.ColumnType, err error) {
	rows, err := c.db.QueryContext(ctx, "SELECT * FROM "+c.dialect.quote(c.table.Table)+" WHERE 1 = 0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if types, err = rows.ColumnTypes(); err != nil {
		return nil, err
	}
	return types, rows.Err()
}

// inspectSession refuses a session that sees other rows or values than the table has. A repair
// would take hidden parents for missing ones, and move sound rows.
func (c *catalogue) inspectSession(ctx context.Context) error {
	query, args := "SELECT @@SESSION.sql_mode LIKE '%PAD_CHAR_TO_FULL_LENGTH%'", []any(nil)
	means := "the sql_mode PAD_CHAR_TO_FULL_LENGTH adds spaces to what CHAR columns hold: set another sql_mode in the URL"
	if c.dialect == PostgreSQL {
		query, args = "SELECT row_security_active(to_regclass($1))", []any{c.dialect.quote(c.table.Table)}
		means = "row-level security may hide rows from this role: connect as the table's owner, or as a role with BYPASSRLS"
	}
	var bad sql.NullBool
	if err := c.db.QueryRowContext(ctx, query, args...).Scan(&bad); err != nil {
		return fmt.Errorf("%w %q: the session's settings: %w", ErrTable, c.table.Table, err)
	}
	if bad.Bool {
		return fmt.Errorf("%w %q: %s", ErrTable, c.table.Table, means)
	}
	return nil
}

// inspectLimits reads how long names and paths may be. On MySQL, it also reads the columns' types.
func (c *catalogue) inspectLimits(ctx context.Context) error {
	schema, name := "", c.table.Table
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		schema, name = name[:i], name[i+1:]
	}
	query := `SELECT column_name, data_type, character_maximum_length, character_octet_length FROM information_schema.columns WHERE table_name = ? AND table_schema = `
	args := []any{name}
	switch {
	case c.dialect == PostgreSQL: // in any schema of the search path
		query += "(SELECT n.nspname FROM pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace WHERE t.oid = to_regclass(?))"
		args = append(args, c.dialect.quote(c.table.Table))
	case schema != "":
		query += "?"
		args = append(args, schema)
	default:
		query += "DATABASE()"
	}
	rows, err := c.db.QueryContext(ctx, c.dialect.bind(query), args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var column, kind string
		var characters, octets sql.NullInt64
		if err := rows.Scan(&column, &kind, &characters, &octets); err != nil {
			return err
		}
		if c.dialect == MySQL { // the driver does not know MariaDB's UUID
			c.kinds[column] = treerow.KindOf(kind)
		}
		c.limits[column] = limit{characters.Int64, octets.Int64}
	}
	return rows.Err()
}
