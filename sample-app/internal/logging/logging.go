// Package logging makes the program's log: as text or JSON, and with one line for each kind of
// record in an interval, so that an outage does not bury what else there is to say.
package logging

import (
	"io"
	"log/slog"
)

// The formats of [New].
const (
	Text = "text"
	JSON = "json"
)

// New returns a log in a format. flush writes what is still held back.
func New(out io.Writer, format string) (log *slog.Logger, flush func()) {
	var h slog.Handler = slog.NewTextHandler(out, nil)
	if format == JSON {
		h = slog.NewJSONHandler(out, nil)
	}
	s := &sampler{Handler: h, kinds: &kinds{held: make(map[string]*held)}}
	return slog.New(s), s.kinds.flush
}
