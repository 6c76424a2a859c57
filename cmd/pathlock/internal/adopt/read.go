package adopt

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// reader reads a database.
type reader struct {
	db       *sql.DB
	dialect  *dialect.Dialect
	version  string
	progress func(table string, rows int)
}

// cell is a value as text.
type cell = sql.NullString

// table is a table with its rows.
type table struct {
	treeschema.Present
	name string
	// key is the primary key, or another unique column, "" if there is none.
	key     string
	dialect *dialect.Dialect
	columns map[string]treeschema.Column
	// order has the columns in the order of their names.
	order []string
	// others are the names of all tables.
	others []string
	cells  map[string][]cell
	rows   int
	// rowOf has a row for each value, of the columns that were asked for.
	rowOf map[string]map[string]int
	// stated is what the user has said about the table. tree, with second if two say it, are its
	// columns of the trees' ids.
	stated       Options
	tree, second string
	// more is set if the table has more rows than were read.
	more bool
}

// catalogues are the queries for the tables of a database that the user can read. A dot in a name
// stands before it for a schema.
var catalogues = map[*dialect.Dialect]string{
	dialect.MySQL:      "SELECT TABLE_NAME AS name, VERSION() AS version FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_NAME NOT LIKE '%.%' ORDER BY 1",
	dialect.PostgreSQL: "SELECT CASE WHEN pg_table_is_visible(c.oid) THEN relname ELSE nspname || '.' || relname END AS name, '' AS version FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind IN ('r', 'p') AND NOT relispartition AND nspname !~ '^pg_' AND nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AND strpos(relname, '.') = 0 ORDER BY 1",
	dialect.SQLite:     "SELECT name, '' AS version FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE '%.%' ORDER BY 1",
}

// sampled is how many rows of a table are read to find its shape.
const sampled = 20_000

// samples reads the tables, of large ones the rows with the smallest keys. It returns why it cannot
// read some of them.
func (r *reader) samples(ctx context.Context, tx *sql.Tx, only string) (tables []*table, unread []Unsupported, err error) {
	names, err := r.names(ctx, tx)
	if err == nil {
		_, err = tx.ExecContext(ctx, "SAVEPOINT pathlock")
	}
	if err != nil {
		return nil, nil, err
	}
	if only != "" && !slices.Contains(names, only) {
		names = append(names, only) // in another database
	}
	for _, name := range names {
		t, err := r.read(ctx, tx, name)
		if err == nil {
			t.others = names
			tables = append(tables, t)
			continue
		}
		unread = append(unread, Unsupported{name, "it cannot be read: " + err.Error()})
		if _, ended := tx.ExecContext(ctx, "ROLLBACK TO SAVEPOINT pathlock"); ended != nil || name == only {
			return nil, nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return tables, unread, nil
}

// mayBeCut reports whether a path may be longer than what has been read of it.
func (s *shape) mayBeCut() bool {
	return slices.ContainsFunc([]string{s.Path, s.IDPath}, func(column string) bool {
		return slices.ContainsFunc(s.of.cells[column], func(c cell) bool { return len(c.String) >= longest })
	})
}

// readFully gives a shape all rows of its table, up to [MostRows], with their whole paths.
func (r *reader) readFully(ctx context.Context, tx *sql.Tx, s *shape) error {
	seen, t := *s, *s.of
	if t.cells = make(map[string][]cell); !t.more {
		t.cells = maps.Clone(s.of.cells)
	}
	t.rows, t.more = 0, false
	var selected []string
	for _, name := range append([]string{s.Key, s.Tree, s.Parent, s.Name, s.Path, s.IDPath, s.Depth, s.Deleted, s.owner}, s.pair...) {
		if name != "" && !slices.Contains(append(s.addedNames(), selected...), name) {
			selected = append(selected, name)
		}
	}
	if err := r.readRows(ctx, tx, &t, selected, MostRows, whole); err != nil {
		return err
	}
	if s.isAdded(s.Parent) {
		t.columns = maps.Clone(t.columns)
		for _, name := range s.addedNames() {
			delete(t.columns, name)
		}
		for _, again := range t.parentless(nil) {
			again.settle()
			*s, s.seen = again, &seen
			return nil
		}
	}
	if s.owner != "" {
		path := cmp.Or(s.Path, s.IDPath)
		t.cells[path], _, _ = t.cutOwner(path, s.owner, nil)
	}
	for _, name := range s.addedNames() {
		t.cells[name] = make([]cell, t.rows)
	}
	if s.pair != nil {
		t.cells[s.Tree] = t.pairs(s.pair)
	}
	s.of, s.seen = &t, &seen
	return nil
}

// names lists the tables.
func (r *reader) names(ctx context.Context, tx *sql.Tx) (names []string, err error) {
	records, err := treeschema.Ask(ctx, tx, catalogues[r.dialect])
	for _, table := range records {
		if r.version = table["version"]; !strings.HasPrefix(table["name"], "pathlock_") {
			names = append(names, table["name"])
		}
	}
	return names, err
}

// read reads a table.
func (r *reader) read(ctx context.Context, tx *sql.Tx, name string) (*table, error) {
	there, err := treeschema.Look(ctx, tx, r.dialect, name)
	if err != nil {
		return nil, err
	} else if !there.IsTable {
		return nil, errors.New("there is no such table that this user can read")
	}
	t := &table{Present: there, name: name, dialect: r.dialect, columns: make(map[string]treeschema.Column), cells: make(map[string][]cell), rowOf: make(map[string]map[string]int)}
	if len(there.Unique) > 0 {
		t.key = there.Unique[0]
	}
	var selected []string
	for _, c := range there.Columns {
		t.columns[c.Name], t.order = c, append(t.order, c.Name)
		if r.legible(c, longest) != "" && !strings.Contains(c.Name, ".") {
			selected = append(selected, c.Name)
		}
	}
	if len(selected) == 0 {
		return t, nil
	}
	return t, r.readRows(ctx, tx, t, selected, sampled, longest)
}

// How many characters of a text are read: to find a shape, enough to know most paths by; then all,
// since an index may hold the beginnings of longer paths alone.
const longest, whole = 1100, 1 << 30

// legible is the expression for a column's value as a text of at most so many characters; "" for
// one that has no part in a tree.
func (r *reader) legible(c treeschema.Column, most int) string {
	quoted := r.dialect.QuotePart(c.Name)
	switch kind := dialect.KindOf(c.Type); {
	case r.dialect == dialect.PostgreSQL && (kind == dialect.Text || kind == dialect.UUID || c.Type == "ltree"):
		return fmt.Sprintf("SUBSTR(%s::text, 1, %d)", quoted, most)
	case kind == dialect.Text, kind == dialect.Other && c.Type == "":
		return fmt.Sprintf("SUBSTR(%s, 1, %d)", quoted, most)
	case kind == dialect.Bits && r.dialect == dialect.MySQL:
		return quoted + " + 0"
	case kind == dialect.Bytes:
		if r.dialect == dialect.PostgreSQL {
			return fmt.Sprintf("ENCODE(SUBSTR(%s, 1, %d), 'hex')", quoted, treetable.MostZeros)
		}
		if r.dialect == dialect.SQLite || c.Length > 0 && c.Length <= treetable.MostZeros {
			return fmt.Sprintf("HEX(SUBSTR(%s, 1, %d))", quoted, treetable.MostZeros)
		}
		return ""
	case kind == dialect.Other, kind == dialect.Bits && r.dialect == dialect.PostgreSQL:
		return ""
	}
	return quoted
}

// readRows reads the rows, those with the smallest keys first, and at most so many characters of a
// text.
func (r *reader) readRows(ctx context.Context, tx *sql.Tx, t *table, selected []string, limit, most int) (err error) {
	var expressions []string
	for _, name := range selected {
		expressions = append(expressions, r.legible(t.columns[name], most))
		t.cells[name] = nil
	}
	query := "SELECT " + strings.Join(expressions, ", ") + " FROM " + r.dialect.Quote(t.name)
	if t.key != "" {
		query += " ORDER BY " + r.dialect.QuotePart(t.key)
	}
	rows, err := tx.QueryContext(ctx, fmt.Sprintf("%s LIMIT %d", query, limit+1))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values, targets := make([]cell, len(selected)), make([]any, len(selected))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if t.rows == limit {
			t.more = true
			break
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i, name := range selected {
			t.cells[name] = append(t.cells[name], values[i])
		}
		if t.rows++; t.rows%50_000 == 0 && r.progress != nil {
			r.progress(t.name, t.rows)
		}
	}
	if t.rows >= 50_000 && r.progress != nil {
		r.progress("", 0)
	}
	return rows.Err()
}

// kind says what a column holds.
func (t *table) kind(column string) dialect.ColumnKind { return dialect.KindOf(t.columns[column].Type) }

// refers reports whether a column can have the keys of a table: it is no foreign key to another
// table, unless the keys themselves refer to that one, too.
func (t *table) refers(column string, to *table, key string) bool {
	at := t.Foreign[column]
	return at == "" || strings.EqualFold(at, to.name) || strings.EqualFold(at, to.Foreign[key])
}

// texts are the columns that can hold a path or a name.
func (t *table) texts() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(t.cells)), func(name string) bool {
		kind := t.kind(name)
		return kind != dialect.Text && (kind != dialect.Other || t.columns[name].Type == "ltree")
	})
}

// steps are the columns that a path can consist of: a key, but for one of bytes, and the labels.
func (t *table) steps(key string) []string {
	if t.kind(key) == dialect.Bytes {
		return t.labels()
	}
	return append([]string{key}, t.labels()...)
}

// labels are the columns that can hold a name.
func (t *table) labels() []string {
	if t.stated.Name != "" {
		return []string{t.stated.Name}
	}
	return t.texts()
}
