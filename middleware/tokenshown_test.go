package middleware_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Whoever reads logs, errors and answers cannot use the hold.
func TestATokenIsShownNowhere(t *testing.T) {
	var logged bytes.Buffer
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(guarded{&mu, &logged}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.locker = pathlock.New(memstore.New(), pathlock.WithLogger(log), pathlock.WithWait(pathlock.NoWait))
	locks := middleware.New(f.locker, f.nodes, middleware.Config{Log: log})
	engine := gin.New()
	var said strings.Builder
	engine.Use(func(c *gin.Context) {
		c.Next()
		said.WriteString(c.Errors.String())
	})
	handle := func(c *gin.Context) {
		switch c.Query("end") {
		case "lost":
			if err := f.locker.ForceRelease(c, plan, f.locker.Scope(c.Request.Context()).Owner()); err != nil {
				t.Error(err)
			}
			_, err := f.locker.Acquire(c.Request.Context(), pathlock.Request{Tree: plan, Claims: claim("/x")})
			locks.Fail(c, err)
		case "internal":
			locks.Fail(c, errors.New("hm"))
		}
	}
	engine.DELETE("/suites/:id", locks.Lock(lockspec.Delete(lockspec.Param("id"))), handle)
	f.engine = engine
	mine := f.detached(plan, "/dir1")
	for _, request := range []struct {
		path   string
		header pathlock.Token
		status int
	}{
		{"/suites/3", "", 423},
		{"/suites/3", mine, 200},
		{"/suites/3", mine + ".x", 400},
		{"/suites/3", "x" + mine, 400},
		{"/suites/99", mine, 404},
		{"/suites/3?end=internal", mine, 500},
		{"/suites/3?end=lost", mine, 409},
		{"/suites/3", mine, 409},
	} {
		w := f.send("DELETE", request.path, "", token(request.header)...)
		f.is(request.path, w, request.status, "")
		said.WriteString(w.Body.String())
	}
	mu.Lock()
	defer mu.Unlock()
	if logged.Len() == 0 {
		t.Error("nothing was logged")
	}
	secret := string(mine)[12:28]
	for what, text := range map[string]string{"logs": logged.String(), "errors and answers": said.String()} {
		if strings.Contains(text, secret) {
			t.Errorf("the %s tell the token: %s", what, text)
		}
	}
}

// guarded is a buffer that several goroutines write to.
type guarded struct {
	mu     *sync.Mutex
	buffer *bytes.Buffer
}

func (g guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.buffer.Write(p)
}
