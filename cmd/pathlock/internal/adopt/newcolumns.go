package adopt

import (
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

// free returns a name for a column that no other has.
func (s *shape) free(want string) string {
	name := want
	for n := 2; s.of.columns[name].Name != ""; n++ {
		name = fmt.Sprintf("%s%d", want, n)
	}
	return name
}

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
