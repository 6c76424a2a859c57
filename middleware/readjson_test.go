package middleware_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// Whoever looks at the body before the locks are taken finds all of it, and so do the spec and the
// handler afterwards.
func TestReadJSONLeavesTheBodyUnread(t *testing.T) {
	const body = `{"name":"n"}`
	for _, timeout := range []time.Duration{0, -1} { // read ahead, and by whoever needs it
		f := newFixture(t, memstore.New(), middleware.Config{})
		locks := middleware.New(f.locker, f.nodes, middleware.Config{BodyTimeout: timeout})
		look := func(c *gin.Context) {
			for range 2 {
				if got, err := locks.ReadJSON(c); err != nil || string(got) != body {
					t.Errorf("ReadJSON returns %q, %v", got, err)
				}
			}
		}
		f.engine.PUT("/suites/:id", look, locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), look, func(c *gin.Context) {
			if got, err := io.ReadAll(c.Request.Body); err != nil || string(got) != body {
				t.Errorf("the handler reads %q, %v", got, err)
			}
			c.Status(http.StatusNoContent)
		})
		if w := f.send("PUT", "/suites/3", body); w.Code != http.StatusNoContent {
			t.Errorf("answer %d: %s", w.Code, w.Body)
		}
	}
}

func TestReadJSONRefusesWhatASpecWouldRefuse(t *testing.T) {
	const limit = 100
	long := strings.Repeat(" ", limit+1)
	for _, tt := range []struct {
		what, method, body, contentType string
		chunked                         bool
		want                            int
	}{
		{what: "JSON", method: "POST", body: "{}", contentType: "application/json"},
		{what: "JSON that does not say so", method: "POST", body: "{}"},
		{what: "a type that counts as JSON", method: "POST", body: "{}", contentType: "application/merge-patch+json"},
		{what: "the body of a DELETE", method: "DELETE", body: "{}", contentType: "application/json"},
		{what: "no body, of whatever type", method: "POST", contentType: "text/plain"},
		{what: "a text", method: "POST", body: "{}", contentType: "text/plain", want: http.StatusUnsupportedMediaType},
		{what: "another character set", method: "POST", body: "{}", contentType: "application/json; charset=utf-16", want: http.StatusUnsupportedMediaType},
		{what: "too long", method: "POST", body: long, want: http.StatusRequestEntityTooLarge},
		{what: "too long, of unknown length", method: "POST", body: long, chunked: true, want: http.StatusRequestEntityTooLarge},
	} {
		t.Run(tt.what, func(t *testing.T) {
			f := newFixture(t, memstore.New(), middleware.Config{})
			locks := middleware.New(f.locker, f.nodes, middleware.Config{MaxBody: limit, JSONTypes: []string{"application/merge-patch+json"}})
			var got []byte
			var failure error
			f.engine.Handle(tt.method, "/read", func(c *gin.Context) {
				if tt.chunked {
					c.Request.ContentLength = -1
				}
				got, failure = locks.ReadJSON(c)
			})
			var headers []string
			if tt.contentType != "" {
				headers = []string{"Content-Type", tt.contentType}
			}
			f.send(tt.method, "/read", tt.body, headers...)
			status := 0
			if p := middleware.ProblemOf(failure); p != nil {
				status = p.Status
			}
			if status != tt.want || failure == nil != (tt.want == 0) {
				t.Errorf("it fails with %v, want %d", failure, tt.want)
			}
			if tt.want == 0 && string(got) != tt.body {
				t.Errorf("it returns %q", got)
			}
		})
	}
}
