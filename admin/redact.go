package admin

import (
	"cmp"
	"context"
	"hash/maphash"
	"log/slog"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/pathlock-go/pathlock"
)

// hidden stands for a name that is redacted to nothing: without it, a node would look like the one
// above it.
const hidden = "…"

// shown turns texts into those to show, and remembers the paths: most of them occur many times.
type shown struct {
	redact func(kind Kind, text string) string
	paths  map[pathlock.Path]string
}

func (p *Page) newShown() *shown {
	return &shown{redact: p.redact, paths: make(map[pathlock.Path]string)}
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
		text = above + "/" + cmp.Or(strings.ReplaceAll(s.redact(KindName, p.Base()), "/", "∕"), hidden)
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

// redact calls Config.Redact. Whoever can name a node could keep everybody from looking at its tree
// by a name with which that panics: another text stands for such a one, and the log says why.
func (p *Page) redact(kind Kind, text string) (redacted string) {
	defer func() {
		cause := recover()
		if cause == nil {
			return
		}
		// Equal names have equal texts here, too.
		redacted = "redact-failed-" + strconv.FormatUint(maphash.String(p.unredacted, text), 36)
		if silent, ok := p.refusals.note("redact", time.Now()); ok {
			p.config.Log.LogAttrs(context.Background(), slog.LevelError, "pathlock admin: Config.Redact panicked",
				slog.Any("cause", cause), slog.Int("unlogged", silent), slog.String("stack", string(debug.Stack())))
		}
	}()
	return p.config.Redact(kind, text)
}
