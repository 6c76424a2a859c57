package logging

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/pathlock-go/pathlock"
)

// Every is how often at most there is a line of one kind.
const Every = 10 * time.Second

// repeated is the attribute that says how many records of its kind a line stands for.
const repeated = "repeated"

// sampler is a handler that passes the first record of a kind on at once. As long as more come, it
// passes the last one of each interval on, with their number.
type sampler struct {
	slog.Handler
	kinds *kinds
}

// kinds are the kinds of records that there were less than an interval ago.
type kinds struct {
	mu   sync.Mutex
	held map[string]*held
}

// held is what is held back of one kind.
type held struct {
	n       int
	last    slog.Record
	handler slog.Handler // that of the last one
	timer   *time.Timer
}

// Handle implements [slog.Handler].
func (s *sampler) Handle(ctx context.Context, r slog.Record) error {
	kind := kindOf(r)
	s.kinds.mu.Lock()
	if h := s.kinds.held[kind]; h != nil {
		h.n, h.last, h.handler = h.n+1, r.Clone(), s.Handler
		s.kinds.mu.Unlock()
		return nil
	}
	s.kinds.held[kind] = &held{timer: time.AfterFunc(Every, func() { s.kinds.tell(kind) })}
	s.kinds.mu.Unlock()
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

// tell ends the interval of a kind, and begins the next one if there was anything in it.
func (k *kinds) tell(kind string) {
	k.mu.Lock()
	h := k.held[kind]
	if h == nil {
		k.mu.Unlock()
		return
	}
	ended := *h
	if h.n == 0 {
		delete(k.held, kind)
	} else {
		h.n = 0
		h.timer.Reset(Every)
	}
	k.mu.Unlock()
	ended.write()
}

// flush ends all intervals.
func (k *kinds) flush() {
	k.mu.Lock()
	all := k.held
	k.held = make(map[string]*held)
	k.mu.Unlock()
	for _, h := range all {
		h.timer.Stop()
		h.write()
	}
}

// write passes the last record on, if there is one.
func (h *held) write() {
	if h.n > 0 {
		h.last.AddAttrs(slog.Int(repeated, h.n))
		_ = h.handler.Handle(context.Background(), h.last)
	}
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
