package fsck

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
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
	// pads is set if MySQL has columns that it pads in the mode [padding].
	pads bool
	// parentFirst is set if SQLite has an index that begins with the parent.
	parentFirst bool
}

// columns are the table's quoted columns, prefixed by an alias.
type columns struct {
	key, tree, parent, name, path, idPath string
	// live, isTop, isRoot and empty are conditions. empty says that the name is "".
	live, isTop, isRoot, empty string
	// tops are the alternatives of isTop.
	tops []string
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
	if mark := cmp.Or(t.Deleted, t.DeletedFlag); mark != "" {
		cols.live = d.Live(column(mark), c.kinds[mark])
	}
	cols.isTop, cols.tops = d.NoParent(cols.parent, c.kinds[t.Parent]), d.NoParents(cols.parent, c.kinds[t.Parent])
	cols.empty = d.Empty(cols.name)
	cols.isRoot = fmt.Sprintf("(%s AND %s)", cols.isTop, cols.empty)
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
		return Key{v}, nil
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

// unpadded removes the spaces with which PostgreSQL pads a CHAR(n), and which it ignores itself.
func (c *catalogue) unpadded(column string, text sql.NullString) sql.NullString {
	if c.padded[column] {
		text.String = strings.TrimRight(text.String, " ")
	}
	return text
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

// padding is the SQL mode in which MySQL returns a CHAR column padded to its length. Keys, names
// and paths would then have spaces that they do not have.
const padding = "PAD_CHAR_TO_FULL_LENGTH"

// connect returns a connection that does not pad columns. giveBack restores its mode, and returns
// it to the pool.
func (c *catalogue) connect(ctx context.Context) (conn *sql.Conn, giveBack func(), err error) {
	if conn, err = c.db.Conn(ctx); err != nil {
		return nil, nil, err
	}
	plain := func() { _ = conn.Close() }
	if !c.pads {
		return conn, plain, nil
	}
	var mode string
	if err := conn.QueryRowContext(ctx, "SELECT @@SESSION.sql_mode").Scan(&mode); err != nil {
		plain()
		return nil, nil, err
	}
	modes := strings.Split(mode, ",")
	if !slices.Contains(modes, padding) {
		return conn, plain, nil
	}
	set := func(ctx context.Context, mode string) error {
		_, err := conn.ExecContext(ctx, "SET SESSION sql_mode = ?", mode)
		return err
	}
	giveBack = func() {
		if set(context.WithoutCancel(ctx), mode) != nil {
			discard(conn)
		}
		plain()
	}
	others := slices.DeleteFunc(modes, func(m string) bool { return m == padding })
	if err := set(ctx, strings.Join(others, ",")); err != nil {
		giveBack()
		return nil, nil, err
	}
	return conn, giveBack, nil
}

// discard takes a connection whose settings could not be restored out of the pool.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}
