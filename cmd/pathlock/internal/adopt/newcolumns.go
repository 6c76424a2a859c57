package adopt

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
	"github.com/pathlock-go/pathlock/internal/treetable"
)

// add adds a column with its values, and returns its name. A column that is vacant is filled
// instead, if it has the wanted name or one like that.
func (s *shape) add(want string, like *regexp.Regexp, column treeschema.Column, cells []cell) string {
	with := *s.of
	with.columns, with.cells = maps.Clone(s.of.columns), maps.Clone(s.of.cells)
	if cells == nil {
		cells = make([]cell, s.of.rows)
	}
	i := slices.IndexFunc(s.of.order, func(name string) bool {
		return (name == want || like != nil && like.MatchString(name)) && s.of.isVacant(name) && s.of.kind(name) == dialect.KindOf(column.Type)
	})
	if i >= 0 {
		column.Name, s.filled = s.of.order[i], append(slices.Clone(s.filled), s.of.order[i])
	} else {
		column.Name = s.free(want)
		with.columns[column.Name], s.added = column, append(slices.Clone(s.added), column)
	}
	with.cells[column.Name], s.of = cells, &with
	return column.Name
}

// isVacant reports whether a column has no value in any row, as after a program that needs it has
// added it.
func (t *table) isVacant(name string) bool {
	none := shape{Table: treetable.Table{Parent: name}, of: t}
	for i := range t.cells[name] {
		if !none.isTop(i) {
			return false
		}
	}
	return len(t.cells[name]) > 0 && t.columns[name].Expression == ""
}

// isAdded reports whether the table lacks a column, or its values.
func (s *shape) isAdded(name string) bool {
	return slices.Contains(s.addedNames(), name) || slices.Contains(s.filled, name)
}

func (s *shape) addedNames() (names []string) {
	for _, a := range s.added {
		names = append(names, a.Name)
	}
	return names
}

// free returns a name for a column that no other has, in any letter case.
func (s *shape) free(want string) string {
	name := cut(want)
	for slices.ContainsFunc(slices.Collect(maps.Keys(s.of.columns)), func(other string) bool { return strings.EqualFold(other, name) }) {
		name = "tree_" + name
	}
	return name
}

// cut is a name that leaves room for a number or a word in the 63 bytes that databases take.
func cut(name string) string { return strings.ToValidUTF8(name[:min(len(name), 55)], "") }

// The lengths of new columns.
const (
	pathLength = 700
	nameLength = 255
	pairLength = 36 // of a number or a uuid in it
)

// textType is a new column of texts that compares them byte by byte.
func textType(d *dialect.Dialect, length int64) treeschema.Column {
	c := treeschema.Column{Type: fmt.Sprintf("varchar(%d)", length), Length: length, Bytes: 4 * length, Nullable: true, Plain: true, Equality: "exact"}
	if d == dialect.MySQL {
		c.Charset = "utf8mb4"
	}
	return c
}

// shorten gives columns of names and paths that no index of MySQL holds a length: with room to
// grow, within what an index holds beside the tree and the parent.
func (r *reader) shorten(s *shape) {
	for _, name := range []string{s.Name, s.Path, s.IDPath} {
		c, least := s.of.columns[name], int64(pathLength)
		if !strings.HasSuffix(c.Type, "text") || c.Charset == "" || !bool(c.Plain) {
			continue
		}
		if name == s.Name {
			least = nameLength
		}
		longestOf := 0
		for _, cell := range s.of.cells[name] {
			longestOf = max(longestOf, utf8.RuneCountInString(cell.String))
		}
		room := 3064 - s.of.columns[s.Tree].Bytes - s.of.columns[s.Parent].Bytes // a mark may stand in it, too
		length := min(max(least, 2*int64(longestOf)), room/4)
		if length < int64(longestOf) {
			continue
		}
		c.Type, c.Length, c.Bytes, c.Charset, c.Equality = fmt.Sprintf("varchar(%d)", length), length, 4*length, "utf8mb4", "exact"
		c.Collation = r.dialect.Collation(r.version)
		s.short = append(s.short, c)
	}
}

// column is the column as it will be.
func (s *shape) column(name string) treeschema.Column {
	if i := slices.IndexFunc(s.short, func(c treeschema.Column) bool { return c.Name == name }); i >= 0 {
		return s.short[i]
	}
	return s.of.columns[name]
}

// inPair takes the trees' ids from a column that is made of two, and adds it if there is none.
func (s shape) inPair(first, second string) shape {
	s.pair = []string{first, second}
	cells, length := s.of.pairs(s.pair), int64(1)
	for _, name := range s.pair {
		length += cmp.Or(s.of.columns[name].Length, pairLength)
	}
	want := first + "_" + second
	if made, whole := s.of.madeOf(want, cells); made == "" {
		s.Tree = s.add(want, nil, textType(s.of.dialect, length), cells)
	} else if s.Tree = made; !whole {
		with := *s.of
		with.cells = maps.Clone(s.of.cells)
		with.cells[made], s.of, s.filled = cells, &with, append(slices.Clone(s.filled), made)
	}
	return s
}

// pairs are the trees' ids that two columns make together.
func (t *table) pairs(of []string) []cell {
	cells := make([]cell, t.rows)
	for i := range cells {
		cells[i] = cell{String: t.cells[of[0]][i].String + ":" + t.cells[of[1]][i].String, Valid: true}
	}
	return cells
}

// madeOf returns the column that has these texts. It is not whole if some rows still have nothing.
// A column with the wanted name may have other texts in some rows.
func (t *table) madeOf(want string, texts []cell) (column string, whole bool) {
	for _, name := range t.order {
		if t.columns[name].Expression != "" {
			continue
		}
		same, lacking := 0, 0
		for i, c := range t.cells[name] {
			if c == texts[i] {
				same++
			} else if c.String == "" {
				lacking++
			}
		}
		if same > 0 && same+lacking == t.rows || name == want && most(same, t.rows-lacking) {
			return name, same == t.rows
		}
	}
	return "", false
}

// pairSQL is the value of a column made of two.
func (s *shape) pairSQL() string {
	d := s.of.dialect
	return concat(d, d.QuotePart(s.pair[0]), "':'", d.QuotePart(s.pair[1]))
}

// isPairSQL is the condition that a column has the value that is made of two, whose collations may
// be others.
func (s *shape) isPairSQL() string {
	value := s.pairSQL()
	if s.of.dialect == dialect.MySQL { // and so may be the character sets
		value = "CONVERT(" + value + " USING utf8mb4) COLLATE utf8mb4_bin"
	}
	return s.of.dialect.QuotePart(s.Tree) + " = " + value
}

// constraints are the queries that look for a constraint of a table by its name. SQLite adds none.
var constraints = map[*dialect.Dialect]string{
	dialect.MySQL:      "SELECT COUNT(*) FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND CONSTRAINT_NAME = ?",
	dialect.PostgreSQL: "SELECT COUNT(*) FROM pg_constraint WHERE conrelid = to_regclass(?) AND conname = ?",
}

// keepPair adds the statement for the constraint that keeps a column made of two, if the table
// lacks it.
func (r *reader) keepPair(ctx context.Context, s *shape, add func(Statement)) error {
	query := constraints[r.dialect]
	if s.pair == nil || query == "" {
		return nil
	}
	table, name, there := s.Table.Table, s.Tree, 0
	if r.dialect == dialect.PostgreSQL {
		table = r.dialect.Quote(table)
	} else { // where a name is the database's
		name = table + "_" + name
	}
	name = cut(name) + "_is_pair"
	if err := r.db.QueryRowContext(ctx, r.dialect.Bind(query), table, name).Scan(&there); err != nil || there > 0 {
		return err
	}
	alter := "ALTER TABLE " + r.dialect.Quote(s.Table.Table)
	add(Statement{
		SQL:  fmt.Sprintf("%s ADD CONSTRAINT %s CHECK ((%s) IS TRUE)", alter, r.dialect.QuotePart(name), s.isPairSQL()),
		Why:  "pathlock only reads " + s.Tree + ": this refuses what is not made of both, NULL included",
		Undo: alter + " DROP CONSTRAINT " + r.dialect.QuotePart(name),
	})
	return nil
}
