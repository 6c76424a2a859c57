package admin

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pathlock-go/pathlock"
)

// hidden stands for a name that is redacted to nothing: without it, a node would look like the one
// above it.
const hidden = "…"

// shown turns texts into those to show, and remembers the paths: most of them occur many times.
type shown struct {
	redact func(text string, isNote bool) string
	paths  map[pathlock.Path]string
}

func (p *Page) newShown() *shown {
	return &shown{redact: p.config.Redact, paths: make(map[pathlock.Path]string)}
}

// path returns a path with each of its names redacted.
func (s *shown) path(p pathlock.Path) string {
	if p.IsRoot() {
		return "/"
	}
	text, ok := s.paths[p]
	if !ok {
		// A redacted name stays one name.
		text = strings.TrimSuffix(s.path(p.Parent()), "/") + "/" + cmp.Or(strings.ReplaceAll(s.redact(p.Base(), false), "/", "∕"), hidden)
		s.paths[p] = text
	}
	return text
}

// note returns a note, redacted.
func (s *shown) note(note string) string {
	if note == "" {
		return ""
	}
	return s.redact(note, true)
}

// modeOf names a mode, or returns "" if none is known.
func modeOf(m pathlock.Mode) string {
	if !m.IsValid() {
		return ""
	}
	return m.String()
}

// mostPrintable is how many bytes of a text go to the log.
const mostPrintable = 128

// printable returns a text on one line, without control characters and not too long.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !showable(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if len(s) <= mostPrintable {
		return s
	}
	end := mostPrintable
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// showable reports whether a character has a place in a line of text: no control character, and
// nothing that turns the direction of what follows.
func showable(r rune) bool {
	const joiner = '\u200d' // within emoji
	return unicode.IsPrint(r) || unicode.Is(unicode.Zs, r) || r == joiner
}
