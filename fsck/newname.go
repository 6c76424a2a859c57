package fsck

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
)

// limit is how long the texts of a column may be; 0 means no limit.
type limit struct{ characters, bytes int64 }

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

// cleanName turns any name into one that a path can have: characters that are not allowed become
// "_".
func (c *catalogue) cleanName(name string) string {
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
// "base (2)", "base (3)", …; from 2, base itself is none.
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
	was := p.slot(&e.was)
	if free, passed := p.passed[was]; passed && !p.taken(was) {
		p.next[free.stem] = min(p.next[free.stem], free.number)
	}
}

// renumber gives the row of an edit the first free name, from a number on.
func (p *plan) renumber(e *edit, from int) {
	p.moving = e.row
	if e.number = from; from < 2 {
		from = 2
		e.to.name = numbered(e.base, e.number, p.limits[p.table.Name])
	}
	if e.number > 1 || p.taken(p.slot(&e.to)) {
		p.count(e, from, p.room(e))
	}
	e.to.nullName = false
	e.row.seat = e.to
	at := p.slot(&e.to)
	p.moving, p.named[at] = nil, append(p.named[at], e.row)
}

// An example of numbering: three siblings have the name a, and another one a (2). The second a
// tries 2, which is taken, and gets 3; next is 4 behind the stem a with one digit, where the third
// a begins. passed notes that 2 was taken: if its row is renamed or moved, next falls back to 2.
// Where the column is full, a (10) has to shorten a more than a (9): so a stem is that of a number
// of digits.

// stem is what numbered names have in common: a group, and a name that is shortened for a number of
// so many digits.
type stem struct {
	slot
	digits int
}

// passing is a number that was found taken behind a stem.
type passing struct {
	stem   stem
	number int
}

// count finds the first free number from 2 on. Each number behind a stem is looked at once, however
// many rows want it.
func (p *plan) count(e *edit, from int, most limit) {
	for e.number = from; ; {
		digits := len(strconv.Itoa(e.number))
		end := int(math.Pow10(digits))
		s := stem{slot{p.group(&e.to), numbered(e.base, end-1, most)}, digits}
		next := max(p.next[s], end/10)
		counts := next >= e.number || e.number <= 2
		for e.number = max(e.number, next); e.number < end; e.number++ {
			if e.to.name = numbered(e.base, e.number, most); !p.taken(p.slot(&e.to)) {
				break
			}
			if counts {
				p.passed[p.slot(&e.to)] = passing{s, e.number}
			}
		}
		if counts {
			p.next[s] = min(e.number+1, end)
		}
		if e.number < end {
			return
		}
	}
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

// room returns how long the name of an edited row may be, so that the paths of the row and of all
// below it fit. A name that cannot be short enough is as long as its own column holds.
func (p *plan) room(e *edit) limit {
	most := p.limits[p.table.Name]
	if p.table.Path == "" || p.table.Name == "" {
		return most
	}
	if p.below == nil {
		p.measure()
	}
	room, limited := p.below[e.row]
	if !limited {
		return most
	}
	for up, n := e.up, 0; up != nil && n < pathlock.MaxDepth; up, n = up.above(), n+1 {
		if !up.isRoot() {
			room = room.less(up.name)
		}
	}
	const shortest = int64(len("x (1000000)"))
	if room.characters >= shortest && (most.characters == 0 || room.characters < most.characters) {
		most.characters = room.characters
	}
	if room.bytes >= shortest && (most.bytes == 0 || room.bytes < most.bytes) {
		most.bytes = room.bytes
	}
	return most
}

// unlimited stands for no limit where 0 is one.
const unlimited = math.MaxInt32

// less is what a name with its separator leaves of a limit.
func (l limit) less(name string) limit {
	return limit{l.characters - int64(utf8.RuneCountInString(name)) - 1, l.bytes - int64(len(name)) - 1}
}

// measure notes how much the paths of each row and of those below leave for what is above them.
func (p *plan) measure() {
	p.below = make(map[*row]limit)
	for _, r := range slices.Concat(p.rows, p.leafRows) {
		c := p.of(r)
		most := c.limits[c.table.Path]
		if c.table.Path == "" || most == (limit{}) {
			continue
		}
		left := limit{cmp.Or(most.characters, unlimited), cmp.Or(most.bytes, unlimited)}.less(strings.TrimPrefix(c.pathForm.Print("/-"), "/-"))
		at := r
		switch {
		case r.leaf != nil && !c.pathForm.OfParent:
			at, left = r.up, left.less(r.name)
		case c.pathForm.OfParent:
			at = r.above()
		}
		for n := 0; at != nil && n < pathlock.MaxDepth; at, n = at.above(), n+1 {
			is, known := p.below[at]
			if known && is.characters <= left.characters && is.bytes <= left.bytes {
				break
			}
			if known {
				left = limit{min(is.characters, left.characters), min(is.bytes, left.bytes)}
			}
			p.below[at] = left
			left = left.less(at.name)
		}
	}
}
