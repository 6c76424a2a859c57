package middleware_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

func TestLock_panicsOnSpecsThatCannotWork(t *testing.T) {
	locks := middleware.New(pathlock.New(memstore.New()), nil, middleware.Config{})
	for what, spec := range map[string]lockspec.Spec{
		"the zero spec":           {},
		"a kind without resolver": lockspec.Delete(lockspec.Param("id").Kind("case")),
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
	f := newFixture(t, memstore.New(), middleware.Config{})
	table := lockspec.Table{
		"DELETE /suites/:id":    lockspec.Delete(lockspec.Param("id")),
		"POST /login":           lockspec.None("touches no tree"),
		"PATCH /suites/:id/gon": lockspec.Delete(lockspec.Param("id")),
	}
	f.engine = gin.New()
	f.engine.Use(f.locks.Table(table))
	f.engine.DELETE("/suites/:id", f.holding("X /dir1/dir2"))
	f.engine.POST("/login", f.holding())
	f.engine.GET("/suites/:id", f.holding())
	f.engine.PUT("/forgotten", f.holding())

	for _, request := range []string{"DELETE /suites/3", "POST /login", "GET /suites/3"} {
		method, path, _ := strings.Cut(request, " ")
		f.is(request, f.send(method, path, ""), http.StatusNoContent, "")
	}
	err := middleware.CheckRoutes(f.engine, table)
	if err == nil || !strings.Contains(err.Error(), "PUT /forgotten") || !strings.Contains(err.Error(), "PATCH /suites/:id/gon") {
		t.Errorf("CheckRoutes says %v", err)
	}
	delete(table, "PATCH /suites/:id/gon")
	table["PUT /forgotten"] = lockspec.None("tested")
	testerr.Is(t, "CheckRoutes refuses a table that fits", middleware.CheckRoutes(f.engine, table), nil)
}
