package admin

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

const (
	// mostRefusals is how many lines of a kind the log gets in each refusalsEvery.
	mostRefusals  = 10
	refusalsEvery = time.Minute
)

// refusals keeps those whom the page refuses from flooding the log. Each kind counts for itself, so
// that many of one do not hide another.
type refusals struct {
	mu    sync.Mutex
	kinds map[string]*refusalsOfKind
}

type refusalsOfKind struct {
	began          time.Time
	logged, silent int
}

// note counts a refusal. It reports whether the log gets a line, and how many had none since the
// last one.
func (l *refusals) note(kind string, now time.Time) (silent int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kinds == nil {
		l.kinds = make(map[string]*refusalsOfKind)
	}
	k := l.kinds[kind]
	if k == nil {
		k = &refusalsOfKind{began: now}
		l.kinds[kind] = k
	}
	if now.Sub(k.began) >= refusalsEvery {
		k.began, k.logged = now, 0
	}
	if k.logged == mostRefusals {
		k.silent++
		return 0, false
	}
	silent = k.silent
	k.logged++
	k.silent = 0
	return silent, true
}

// refuse answers a request that the page does not do. The log gets it if it was to release.
func (p *Page) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if path, ok := p.path(r); ok && path == releasePath && r.Method == http.MethodPost {
		kind := problemOf(err).Type
		if silent, ok := p.refusals.note(kind, time.Now()); ok {
			p.config.Log.LogAttrs(r.Context(), slog.LevelWarn, "pathlock admin: a release was refused",
				slog.Any("error", err), slog.String("remote", r.RemoteAddr), slog.String("host", printable(r.Host)),
				slog.String("origin", printable(r.Header.Get("Origin"))), slog.String("site", printable(r.Header.Get("Sec-Fetch-Site"))),
				slog.Int("unlogged", silent))
		}
	}
	fail(w, r, err)
}
