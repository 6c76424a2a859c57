package fsck

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/dialect"
)

// limit is how long the texts of a column may be; 0 means no limit.
type limit struct{ characters, bytes int64 }

// limit returns how long the texts of a column may be. The limit in bytes counts only where the
// bytes are UTF-8: a UUID takes fewer, and so may a text in another character set.
func (c *catalogue) limit(column string) limit {
	is := c.schema[column]
	if c.kinds[column] == dialect.UUID || is.Charset != "" && !strings.HasPrefix(is.Charset, "utf8") {
		return limit{characters: is.Length}
	}
	return limit{is.Length, is.Bytes}
}

// holds reports whether a text fits into a column.
func (l limit) holds(text string) bool {
	return (l.characters == 0 || int64(utf8.RuneCountInString(text)) <= l.characters) &&
		(l.bytes == 0 || int64(len(text)) <= l.bytes)
}

// fit shortens a text to what a column holds. It never cuts a character.
func fit(text string, most limit) string {
	characters := int64(0)
	for i, r := range text {
		end := int64(i + utf8.RuneLen(r))
		if characters++; most.characters > 0 && characters > most.characters || most.bytes > 0 && end > most.bytes {
			return text[:i]
		}
	}
	return text
}

// cleaned turns any name into one that a path can have: characters that are not allowed become "_".
func (c *catalogue) cleaned(name string) string {
	if name == "" {
		return "unnamed"
	}
	if name == "." || name == ".." {
		return strings.Repeat("_", len(name))
	}
	clean := strings.Map(func(r rune) rune {
		if r == '/' || c.table.Path != "" && string(r) == c.pathForm.Separator || r == utf8.RuneError || unicode.IsControl(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	return fit(clean, limit{bytes: pathlock.MaxNameBytes})
}

// numbered appends " (n)" to a name, from 2 on. It shortens the name if the column has no room for
// both.
func numbered(name string, n int, most limit) string {
	if n < 2 {
		return fit(name, most)
	}
	suffix := fmt.Sprintf(" (%d)", n)
	if most.characters > 0 {
		most.characters = max(1, most.characters-int64(len(suffix)))
	}
	if most.bytes == 0 || most.bytes > pathlock.MaxNameBytes {
		most.bytes = pathlock.MaxNameBytes
	}
	most.bytes = max(1, most.bytes-int64(len(suffix)))
	return fit(name, most) + suffix
}

// group is what siblings have in common. The parent is the zero Key at the top of the paths, where
// the rows without a parent are, and the children of a root row.
type group struct{ tree, parent Key }

// group returns the group of a seat.
func (f *forest) group(s *seat) group {
	if root := f.roots[s.tree]; s.isTop() || root != nil && s.parent == root.key {
		return group{tree: s.tree}
	}
	return group{s.tree, s.parent}
}

// slot is a name in a group.
type slot struct {
	group
	name string
}

// slot returns the slot of a seat.
func (f *forest) slot(s *seat) slot { return slot{f.group(s), s.name} }

// settle adds an edit and gives its row the first free name there. From 1, the candidates are base,
// "base (2)", "base (3)", …; from 2, base itself is not among them.
func (p *plan) settle(e *edit, base string, from int) {
	r := e.row
	e.was, e.base = r.seat, base
	p.edited[r] = true
	p.edits = append(p.edits, e)
	delete(p.alike, r)
	if e.to.parent != e.was.parent {
		r.up, r.fault = e.up, faultNone
	}
	p.renumber(e, from)
	if was := p.slot(&e.was); !p.taken(was) { // it may be the name that comes next
		delete(p.next, was.group)
	}
}

// renumber gives the row of an edit the first free name, from a number on.
func (p *plan) renumber(e *edit, from int) {
	p.moving = e.row
	most, at := p.limit(p.table.Name), p.group(&e.to)
	e.number, e.to.name = from, numbered(e.base, from, most)
	for p.taken(p.slot(&e.to)) {
		e.number = max(e.number+1, p.next[at][e.base])
		e.to.name = numbered(e.base, e.number, most)
	}
	if p.next[at] == nil {
		p.next[at] = make(map[string]int)
	}
	p.next[at][e.base] = e.number + 1
	e.to.nullName = false
	e.row.seat = e.to
	p.moving, p.named[p.slot(&e.to)] = nil, append(p.named[p.slot(&e.to)], e.row)
}

// taken reports whether another row than the moving one has a name. It forgets those that had it.
func (p *plan) taken(at slot) bool {
	rows := p.named[at]
	for len(rows) > 0 && (rows[0] == p.moving || p.slot(&rows[0].seat) != at) {
		rows = rows[1:]
	}
	p.named[at] = rows
	return len(rows) > 0
}
