package admin

import (
	"strings"

	"github.com/pathlock-go/pathlock"
)

// shown turns texts into those to show, and remembers the paths: most of them occur many times.
type shown struct {
	redact func(kind Kind, text string) string
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
		above := s.path(p.Parent())
		if above == "/" {
			above = ""
		}
		// A redacted name stays one name.
		text = above + "/" + strings.ReplaceAll(s.redact(KindName, p.Base()), "/", "∕")
		s.paths[p] = text
	}
	return text
}

// note returns a note, redacted.
func (s *shown) note(note string) string {
	if note == "" {
		return ""
	}
	return s.redact(KindNote, note)
}
