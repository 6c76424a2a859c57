package fsck

import (
	"cmp"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/pathlock-go/pathlock/internal/treerow"
)

// catalogue is the table in its database: how to reach it, and what inspect found out about it.
type catalogue struct {
	db      *sql.DB
	dialect Dialect
	table   Table
	// kinds says what the columns hold, padded which of them are padded, and limits how long their
	// texts may be.
	kinds  map[string]treerow.Kind
	padded map[string]bool
	limits map[string]limit
	// pads is set if MySQL has a mode in which it pads the columns when it reads them.
	pads bool
	// parentFirst is set where SQLite has an index that begins with the parent.
	parentFirst bool
}

// columns are the table's quoted names, prefixed by an alias.
type columns struct {
	key, tree, parent, name, path, idPath string
	// live, isTop and isRoot are conditions; tops are the alternatives of isTop, and empty that of
	// an empty name.
	live, isTop, isRoot, empty string
	tops                       []string
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

// readKey makes a key of what a driver returned for a column.
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
		// The MySQL driver returns texts as bytes, too, and takes texts for both.
		if c.dialect == MySQL && kind != treerow.Bytes {
			return c.textKey(column, string(v)), nil
		}
		return Key{binaryKey(v)}, nil
	case [16]byte:
		return Key{fmt.Sprintf("%x-%x-%x-%x-%x", v[0:4], v[4:6], v[6:8], v[8:10], v[10:16])}, nil
	}
	return Key{}, fmt.Errorf("fsck: a key cannot be a %T", value)
}

// textKey makes a key of a text. One of a column of numbers is a number, which some drivers return
// as text.
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

// unpadded returns a text of a column as it is meant. PostgreSQL pads those of CHAR(n), and takes
// no notice of that itself.
func (c *catalogue) unpadded(column string, text sql.NullString) sql.NullString {
	if c.padded[column] {
		text.String = strings.TrimRight(text.String, " ")
	}
	return text
}

// treeArg returns the id of a tree as an argument. It may have been given as text: of a number, or
// of bytes in hexadecimal.
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
