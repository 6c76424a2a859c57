package fsck

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// catalogue is the table in its database: how to reach it, and what inspect learned about it.
type catalogue struct {
	db      *sql.DB
	dialect *dialect.Dialect
	table   Table
	// leaves are the tables of the leaves.
	leaves []*catalogue
	// pathForm and idForm are how the columns spell paths, which are "/a/b" in memory.
	pathForm, idForm treetable.Form
	// following are the columns whose values follow from where a row is.
	following []following
	// schema has the table's columns, and kinds says what each one holds.
	schema map[string]treeschema.Column
	kinds  map[string]dialect.ColumnKind
	// others are the columns that the table does not describe, with the values that an INSERT gives
	// them, nil for none: the zero values of their types, or "{unique}". orphans is the parent of
	// rows at the top in a table that has no such row yet: NULL, or what stands for it in a column
	// that is NOT NULL.
	others  map[string]any
	orphans Key
	// when is Table.DeletedWhen as SQL, and top is Table.ParentTop.
	when, top string
}

// columns are the table's quoted columns, prefixed by an alias.
type columns struct {
	key, tree, parent, name string
	// all lists those that [catalogue.scan] reads.
	all string
	// live and isTop are conditions.
	live, isTop string
}

// columnsAs returns the columns of the rows called alias.
func (c *catalogue) columnsAs(alias string) columns {
	column := func(name string) string {
		if name == "" {
			return "NULL"
		}
		return alias + "." + c.dialect.Quote(name)
	}
	t := c.table
	cols := columns{
		key: column(t.Key), tree: column(t.Tree), parent: column(t.Parent), name: column(t.Name), live: "1 = 1",
	}
	cols.all = strings.Join([]string{cols.key, cols.tree, cols.parent, cols.name}, ", ")
	for _, f := range c.following {
		cols.all += ", " + column(f.column)
	}
	if mark := t.Deleted; mark != "" {
		cols.live = c.dialect.Live(column(mark), c.kinds[mark], c.when)
	}
	cols.isTop = c.dialect.NoParentSQL(cols.parent, c.kinds[t.Parent])
	if t.ParentTop != "" {
		cols.isTop = "(" + cols.isTop + " OR " + cols.parent + " = " + c.top + ")"
	}
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
	case string:
		return c.textKey(column, v)
	case []byte:
		if kind != dialect.Bytes && !c.dialect.AnyType { // some drivers return texts as bytes
			return c.textKey(column, string(v))
		}
		return Key{binaryKey(v)}, nil
	}
	return Key{}, c.noKey(column, value)
}

// noKey is the error for a value in a key column that cannot be a [Key].
func (c *catalogue) noKey(column string, value any) error {
	return fmt.Errorf("%w %q: %q has %v, which is neither a whole number below 2^63, nor a text, nor bytes", ErrTable, c.table.Table, column, value)
}

// textKey returns the key that a text stands for. Some drivers return numbers as text.
func (c *catalogue) textKey(column, text string) (Key, error) {
	if c.kinds[column] == dialect.Number && !c.dialect.AnyType {
		if k, ok := numberKey(text); ok {
			return k, nil
		}
		return Key{}, c.noKey(column, text)
	}
	c.unpad(column, &text)
	return Key{text}, nil
}

// unpad removes the spaces with which PostgreSQL pads a CHAR(n), and which PostgreSQL itself
// ignores.
func (c *catalogue) unpad(column string, text *string) {
	if text != nil && strings.HasPrefix(c.schema[column].Type, "character(") {
		*text = strings.TrimRight(*text, " ")
	}
}

// treeArg returns the id of a tree as an argument of a statement. A caller may have given a number
// as text, and bytes in hexadecimal. The argument has the type of the column: MySQL takes a text
// for the number that it begins with. It is NULL, which equals nothing, for a text that is no value
// of that type.
func (c *catalogue) treeArg(tree Key) any {
	text, isText := tree.v.(string)
	switch kind := c.kinds[c.table.Tree]; {
	case kind == dialect.Text && !c.dialect.AnyType:
		return tree.String()
	case isText && kind == dialect.Number:
		if k, ok := numberKey(text); ok {
			return k.arg()
		} else if !c.dialect.AnyType {
			return nil
		}
	case isText && kind == dialect.Bytes:
		if b, err := hex.DecodeString(strings.ReplaceAll(text, "-", "")); err == nil {
			return b
		}
	}
	return tree.arg()
}

// inspect asks the database for the columns' types and lengths. It refuses a session that sees
// other rows or values than the table has: a repair would mistake hidden parents for missing ones,
// and move sound rows.
func (c *catalogue) inspect(ctx context.Context) error {
	c.schema, c.kinds, c.others = make(map[string]treeschema.Column), make(map[string]dialect.ColumnKind), make(map[string]any)
	if err := c.db.PingContext(ctx); err != nil {
		return fmt.Errorf("fsck: connect to the database: %w", err)
	}
	there, err := treeschema.Look(ctx, c.db, c.dialect, c.table.Table)
	switch {
	case err != nil:
		return fmt.Errorf("%w %q: %w", ErrTable, c.table.Table, err)
	case !there.Exists:
		return fmt.Errorf("%w %q: there is no such table", ErrTable, c.table.Table)
	case there.Hides:
		return fmt.Errorf("%w %q: %s", ErrTable, c.table.Table, c.dialect.Hides)
	}
	for _, column := range there.Columns {
		name, kind := column.Name, dialect.KindOf(column.Type)
		c.schema[name], c.kinds[name] = column, kind
		if c.table.Has(name) && name != c.table.Version || column.Expression != "" {
			continue
		}
		c.others[name] = nil
		switch text := kind == dialect.Text || kind == dialect.UUID; {
		case text && !bool(column.Nullable) && slices.Contains(there.Unique, name):
			c.others[name] = uniqueValue
		case bool(column.Required):
			c.others[name] = zero(column.Type)
		}
	}
	for _, role := range treetable.Roles {
		name := *role.Column(&c.table)
		if _, exists := c.kinds[name]; name != "" && !exists {
			return fmt.Errorf("%w %q: the %s, %q: %w", ErrTable, c.table.Table, role.What, name, ErrNoColumn)
		}
	}
	if parent := c.schema[c.table.Parent]; !bool(parent.Nullable) {
		c.orphans, _ = c.readKey(parent.Name, zero(parent.Type))
	}
	if top := c.table.ParentTop; top != "" {
		if c.top, err = dialect.MarkLiteral(top, c.kinds[c.table.Parent] == dialect.Number); err != nil {
			return fmt.Errorf("%w %q: the parent of rows at the top: %w", ErrTable, c.table.Table, err)
		}
		c.orphans, err = c.readKey(c.table.Parent, top)
		if err != nil {
			return err
		}
		c.orphans = Key{topKey{c.orphans.v}}
	}
	if c.table.DeletedWhen != "" {
		if c.when, err = dialect.MarkLiteral(c.table.DeletedWhen, c.kinds[c.table.Deleted] == dialect.Number); err != nil {
			return fmt.Errorf("%w %q: %w", ErrTable, c.table.Table, err)
		}
	}
	return nil
}

// zeros are the zero values of the kinds of columns, "" of any other.
var zeros = map[dialect.ColumnKind]any{
	dialect.Bool: false, dialect.Number: int64(0), dialect.Bytes: []byte{}, dialect.UUID: treetable.NilUUID, dialect.Time: "1970-01-02 00:00:00",
}

// zero is the zero value of a column's type, in which rows are live and at the top. It is nil for
// an enum, which has its first value where an INSERT gives none.
func zero(typ string) any {
	typ = strings.ToLower(typ)
	switch value, known := zeros[dialect.KindOf(typ)]; {
	case strings.HasPrefix(typ, "enum"):
		return nil
	case strings.HasPrefix(typ, "json"):
		return "{}"
	case known:
		return value
	default:
		return ""
	}
}
