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

// Middleware may bind the body, which gin keeps, and replace it afterwards. The request has the
// body that it has now, for the spec and for each of gin's ways to read it.
func TestABodyThatWasReplacedIsTheRequests(t *testing.T) {
	type renaming struct {
		Name string `json:"name"`
	}
	replace := func(with string) gin.HandlerFunc {
		return func(c *gin.Context) {
			var body renaming
			if err := c.ShouldBindBodyWithJSON(&body); err != nil {
				t.Error(err)
			}
			c.Request.Body, c.Request.ContentLength = io.NopCloser(strings.NewReader(with)), int64(len(with))
		}
	}
	for how, bind := range map[string]func(*gin.Context, any) error{
		"ShouldBindJSON":         (*gin.Context).ShouldBindJSON,
		"ShouldBindBodyWithJSON": (*gin.Context).ShouldBindBodyWithJSON,
	} {
		for _, timeout := range []time.Duration{0, -1} {
			f := newFixture(t, memstore.New(), middleware.Config{})
			locks := middleware.New(f.locker, f.nodes, middleware.Config{BodyTimeout: timeout})
			f.engine.PATCH("/replaced/:id", replace(`{"name":"new"}`), locks.Lock(lockspec.Rename(lockspec.Param("id"), lockspec.JSON("name"))), func(c *gin.Context) {
				var body renaming
				if err := bind(c, &body); err != nil {
					t.Error(err)
				}
				c.String(http.StatusOK, "%s %s", body.Name, strings.Join(f.held(), ", "))
			})
			w := f.send("PATCH", "/replaced/3", `{"name":"old"}`, "Content-Type", "application/json")
			if want := "new X /dir1/dir2, X /dir1/new"; w.Body.String() != want {
				t.Errorf("%s: answer %d: %s, want %s", how, w.Code, w.Body, want)
			}
		}
	}
}
