package middleware_test

import (
	"net/http"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestOrigin_saysWhichRequest(t *testing.T) {
	own := func(c *gin.Context) string { return "id of " + c.Param("id") }
	for _, tt := range []struct {
		config              middleware.Config
		header, maker, want string
	}{
		{middleware.Config{}, "", "", ""},
		{middleware.Config{}, "r-1", "made", "r-1"},
		{middleware.Config{}, "", "made", "made"},
		{middleware.Config{RequestID: own}, "r-1", "", "id of 3"},
	} {
		f := newFixture(t, memstore.New(), tt.config)
		inner := f.engine.Handler()
		f.engine = gin.New()
		f.engine.PATCH("/suites/:id", func(c *gin.Context) {
			c.Header("X-Request-Id", tt.maker) // as gin-contrib/requestid does
			inner.ServeHTTP(c.Writer, c.Request)
		})
		want := pathlock.Origin{Operation: "rename", Route: "PATCH /suites/:id", RequestID: tt.want}
		f.handler = func(c *gin.Context) {
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
			c.Status(http.StatusNoContent)
		}
		f.is(tt.want, f.send("PATCH", "/suites/3", `{"name":"x"}`, "X-Request-Id", tt.header), http.StatusNoContent, "")
	}
}
