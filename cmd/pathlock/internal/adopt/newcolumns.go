package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock/internal/dialect"
	"github.com/pathlock-go/pathlock/internal/treeschema"
)

// add adds a column with its values, and returns its name.
func (s *shape) add(name string, column treeschema.Column, cells []cell) string {
	with := *s.of
	with.columns, with.cells = maps.Clone(s.of.columns), maps.Clone(s.of.cells)
	column.Name = name
	if cells == nil {
		cells = make([]cell, s.of.rows)
	}
	with.columns[name], with.cells[name] = column, cells
	s.of, s.added = &with, append(slices.Clone(s.added), column)
	return name
}

// isAdded reports whether the table lacks a column.
func (s *shape) isAdded(name string) bool { return slices.Contains(s.addedNames(), name) }

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
