// Package logging makes the program's log: as text or JSON, and with one line for each kind of
// record in an interval, so that an outage does not bury what else there is to say.
package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// JSON is the format that is not text.
const JSON = "json"

// Every is how often at most there is a line of one kind.
const Every = 10 * time.Second

// New returns a log in a format.
func New(out io.Writer, format string) *slog.Logger {
	var h slog.Handler = slog.NewTextHandler(out, nil)
	if format == JSON {
		h = slog.NewJSONHandler(out, nil)
	}
	return slog.New(&sampler{h, &kinds{seen: map[string]kind{}}})
}

// sampler is a handler that passes one record of a kind on in an interval. The next one after it
// says, as "repeated", how many were left out.
type sampler struct {
	slog.Handler
	kinds *kinds
}

// kinds are the kinds of records that there were.
type kinds struct {
	mu   sync.Mutex
	seen map[string]kind
}

type kind struct {
	told    time.Time
	leftOut int
}

// mostKinds bounds the memory.
const mostKinds = 1000

// Handle implements [slog.Handler].
func (s *sampler) Handle(ctx context.Context, r slog.Record) error {
	key := kindOf(r)
	s.kinds.mu.Lock()
	k := s.kinds.seen[key]
	silent := r.Time.Sub(k.told) < Every
	if len(s.kinds.seen) > mostKinds {
		clear(s.kinds.seen)
	}
	if silent {
		s.kinds.seen[key] = kind{k.told, k.leftOut + 1}
	} else {
		s.kinds.seen[key] = kind{told: r.Time}
	}
	s.kinds.mu.Unlock()
	if silent {
		return nil
	}
	if k.leftOut > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("repeated", k.leftOut))
	}
	return s.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (s *sampler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &sampler{s.Handler.WithAttrs(attrs), s.kinds}
}

// WithGroup implements [slog.Handler].
func (s *sampler) WithGroup(name string) slog.Handler {
	return &sampler{s.Handler.WithGroup(name), s.kinds}
}

// kindOf returns what records have in common of which one is enough: level and message, the status
// of an answer, and the failure that an error states. The texts of errors have ports and ids in
// them. They count for internal errors alone, each of which may be another mistake.
func kindOf(r slog.Record) string {
	var status int64
	var failed error
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "status":
			if a.Value.Kind() == slog.KindInt64 {
				status = a.Value.Int64()
			}
		case "error":
			failed, _ = a.Value.Any().(error)
		}
		return true
	})
	text := ""
	if status == http.StatusInternalServerError && failed != nil {
		text = failed.Error()
	}
	return fmt.Sprint(r.Level, " ", r.Message, " ", status, " ", pathlock.FailureOf(failed), " ", text)
}
