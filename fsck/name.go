package fsck

import (
	"fmt"
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
