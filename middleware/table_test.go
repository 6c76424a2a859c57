package middleware_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestSpecsThatCannotWorkStopTheProgramAtTheStart(t *testing.T) {
	locks := middleware.New(pathlock.New(memstore.New()), nil, middleware.Config{})
	for what, spec := range map[string]lockspec.Spec{
		"the zero spec":           {},
		"a kind without resolver": lockspec.Delete(lockspec.Param("id").Kind("case")),
		"a source without a name": lockspec.Delete(lockspec.Param("")),
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("accepted")
				}
			}()
			locks.Lock(spec)
		})
	}
}

func TestTableLocksItsRoutesAndIsCheckedAgainstTheEngine(t *testing.T) {
	locker := pathlock.New(memstore.New())
	resolver := &nodes{paths: map[string]string{"3": "/dir1/dir2"}}
	table := lockspec.Table{
		"DELETE /suites/:id":    lockspec.Delete(lockspec.Param("id")),
		"POST /login":           lockspec.None("touches no tree"),
		"PATCH /suites/:id/gon": lockspec.Delete(lockspec.Param("id")),
	}
	f := &fixture{T: t, engine: gin.New(), locker: locker}
	f.engine.Use(middleware.New(locker, resolver, middleware.Config{}).Table(table))
	report := func(c *gin.Context) { c.String(http.StatusOK, "%v", f.held()) }
	f.engine.DELETE("/suites/:id", report)
	f.engine.POST("/login", report)
	f.engine.GET("/suites/:id", report)
	f.engine.PUT("/forgotten", report)

	for target, want := range map[string]string{
		"DELETE /suites/3": "[X /dir1/dir2]", "POST /login": "[]", "GET /suites/3": "[]",
	} {
		method, path, _ := strings.Cut(target, " ")
		if w := f.send(method, path, ""); w.Body.String() != want {
			t.Errorf("%s holds %s, want %s", target, w.Body, want)
		}
	}
	err := middleware.CheckRoutes(f.engine, table)
	for _, problem := range []string{"PUT /forgotten", "PATCH /suites/:id/gon"} {
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("CheckRoutes says %v, which does not name %s", err, problem)
		}
	}
	delete(table, "PATCH /suites/:id/gon")
	table["PUT /forgotten"] = lockspec.None("tested")
	if err := middleware.CheckRoutes(f.engine, table); err != nil {
		t.Errorf("CheckRoutes refuses a table that fits: %v", err)
	}
}
