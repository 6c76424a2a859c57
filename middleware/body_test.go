package middleware_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// What a handler reads is what the client sent, however long it is; what the spec needs a value of
// is limited.
func TestBody_isHandedOnWhole(t *testing.T) {
	const limit = 1000
	for _, length := range []int{0, limit - len(`{"target":{"parent_id":4},"x":""}`), limit, limit + 1, 100 * limit} {
		for _, chunked := range []bool{false, true} {
			f := newFixture(t, memstore.New(), middleware.Config{MaxBody: limit})
			got := ""
			f.handler = func(c *gin.Context) {
				body, err := io.ReadAll(c.Request.Body)
				testerr.None(t, err)
				got = string(body)
				c.Status(http.StatusNoContent)
			}
			filler := strings.Repeat("x", length)
			for request, sent := range map[string]string{"DELETE /suites/3": filler, "POST /suites/3/move": `{"target":{"parent_id":4},"x":"` + filler + `"}`} {
				var body io.Reader = strings.NewReader(sent)
				if chunked {
					body = io.MultiReader(body)
				}
				want := http.StatusNoContent
				if strings.HasPrefix(request, "POST") && len(sent) > limit {
					want = http.StatusRequestEntityTooLarge
				}
				method, path, _ := strings.Cut(request, " ")
				w := f.serveRequest(httptest.NewRequestWithContext(t.Context(), method, path, body))
				if f.is(request, w, want, ""); want == http.StatusNoContent && got != sent {
					t.Errorf("%s: of %d bytes, chunked: %v, the handler read %d", request, len(sent), chunked, len(got))
				}
			}
		}
	}
}

func TestBody_limitOfOtherMiddlewareIsReported(t *testing.T) {
	f := newFixture(t, memstore.New(), middleware.Config{})
	f.engine.PUT("/limited/:id", func(c *gin.Context) { c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, 20) },
		f.locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))))
	w := f.send("PUT", "/limited/3", `{"name":"longer than twenty bytes"}`)
	if f.is("the answer", w, http.StatusRequestEntityTooLarge, "too-large"); !strings.Contains(w.Body.String(), "at most 20 bytes") {
		t.Errorf("answer: %s", w.Body)
	}
}

// Middleware may bind the body, which gin keeps, and replace it afterwards. The request has the
// body that it has now, for ReadJSON, the spec, and each of gin's ways to read it. Whoever closes
// it closes what was there.
func TestBody_readOrReplacedBeforeTheLocks(t *testing.T) {
	type renaming struct {
		Name string `json:"name"`
	}
	for _, bind := range []func(*gin.Context, any) error{(*gin.Context).ShouldBindJSON, (*gin.Context).ShouldBindBodyWithJSON} {
		for with, want := range map[string]string{"": "old X /dir1/dir2, X /dir1/old", `{"name":"new"}`: "new X /dir1/dir2, X /dir1/new"} {
			f := newFixture(t, memstore.New(), middleware.Config{})
			replacement := &closes{Reader: strings.NewReader(with)}
			read := func(c *gin.Context) {
				testerr.None(t, c.ShouldBindBodyWithJSON(new(renaming)))
				if with != "" {
					c.Request.Body, c.Request.ContentLength = replacement, int64(len(with))
				}
			}
			look := func(c *gin.Context) {
				if got, err := f.locks.ReadJSON(c); err != nil || !strings.Contains(string(got), `"name"`) {
					t.Errorf("ReadJSON returns %q, %v", got, err)
				}
			}
			f.engine.PATCH("/read/:id", read, look, f.locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), look, func(c *gin.Context) {
				var body renaming
				testerr.None(t, bind(c, &body))
				c.String(http.StatusOK, "%s %s", body.Name, strings.Join(f.held(), ", "))
				if err := c.Request.Body.Close(); err != nil || with != "" && !replacement.closed {
					t.Errorf("the body was not closed: %v", err)
				}
			})
			if w := f.send("PATCH", "/read/3", `{"name":"old"}`, "Content-Type", "application/json"); w.Body.String() != want {
				t.Errorf("answer %d: %s, want %s", w.Code, w.Body, want)
			}
		}
	}
}

type closes struct {
	io.Reader
	closed bool
}

func (c *closes) Close() error {
	c.closed = true
	return nil
}
