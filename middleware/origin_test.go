package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestLocksSayWhichRequestTheyAreOf(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config middleware.Config
		header string
		want   string
	}{
		{"without an id", middleware.Config{}, "", ""},
		{"with the header", middleware.Config{}, "r-1", "r-1"},
		{"with that of the response", middleware.Config{}, "", "made"},
		{"with a function", middleware.Config{RequestID: func(c *gin.Context) string { return "id of " + c.Param("id") }}, "r-1", "id of 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, memstore.New(), tt.config)
			want := pathlock.Origin{Operation: "rename", Route: "PATCH /suites/:id", RequestID: tt.want}
			called := false
			f.handler = func(c *gin.Context) {
				called = true
				if got := pathlock.OriginOf(c.Request.Context()); got != want {
					t.Errorf("the handler's context has %+v, want %+v", got, want)
				}
				snapshot, err := f.locker.Snapshot(c, plan)
				if err != nil || len(snapshot.Holders) != 1 {
					t.Fatalf("%+v, %v", snapshot, err)
				}
				got := snapshot.Holders[0].Origin
				if got.Instance == "" {
					t.Error("the hold names no instance")
				}
				if got.Instance = ""; got != want {
					t.Errorf("the hold has %+v, want %+v", got, want)
				}
			}
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPatch, "/suites/3", strings.NewReader(`{"name":"x"}`))
			if tt.header != "" {
				req.Header.Set("X-Request-Id", tt.header)
			}
			w := httptest.NewRecorder()
			if tt.header == "" && tt.want != "" {
				w.Header().Set("X-Request-Id", tt.want) // as gin-contrib/requestid does
			}
			f.engine.ServeHTTP(w, req)
			if !called {
				t.Error("the handler was not called")
			}
		})
	}
}
