package integration

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/gormplugintest"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/internal/test/testredis"
	"github.com/pathlock-go/pathlock/internal/test/testserver"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// openDegradable opens an instance of a service that goes on while its Redis is away.
func openDegradable(t *testing.T, d gormplugintest.Database, server *testredis.Server) (*gin.Engine, *gorm.DB) {
	t.Helper()
	redis, err := redisstore.Open("redis://" + server.Addr)
	testerr.Must(t, err)
	quiet := slog.New(slog.DiscardHandler)
	locker := pathlock.New(pathlock.Degrade(redis, pathlock.Degradation{Retry: 50 * time.Millisecond, Log: quiet}), pathlock.WithLogger(quiet))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		testerr.Must(t, locker.Shutdown(ctx))
		testerr.Must(t, redis.Close(ctx))
	})
	type suite = gormplugintest.Suite
	plugin := gormplugin.New(locker, gormplugin.Model(&suite{}))
	db := guardedBy(t, d, plugin, &suite{})
	testerr.Must(t, gormplugin.AutoMigrate(db))
	locks := middleware.New(locker, plugin.Resolver(&suite{}), middleware.Config{Log: quiet})
	engine := gin.New()
	id, name := lockspec.Param("id"), lockspec.JSON("Name")
	handle := func(path string, spec lockspec.Spec, do func(db *gorm.DB, c *gin.Context, body suite) error) {
		engine.PATCH(path, locks.Lock(spec), func(c *gin.Context) {
			var body suite
			_ = c.ShouldBindJSON(&body)
			if err := do(db.WithContext(c.Request.Context()), c, body); err != nil {
				locks.Fail(c, err)
			}
		})
	}
	rename := func(db *gorm.DB, c *gin.Context, body suite) error {
		return gormplugin.Rename(db, &suite{}, c.Param("id"), body.Name)
	}
	handle("/suites/:id", lockspec.Rename(id, name).Asserted(), rename)
	handle("/unasserted/:id", lockspec.Rename(id, name), rename)
	handle("/detached/:id", lockspec.None("it locks itself"), func(_ *gorm.DB, c *gin.Context, _ suite) error {
		_, _, err := locks.Detach(c, lockspec.Slot(id).Asserted(), time.Minute, "")
		return err
	})
	return engine, db
}

// A service goes on while its Redis is away, says so in its answers, refuses what nothing asserts,
// and takes locks again once the Redis is back. The storms show what happens to the tree then.
func TestDegrade_whileRedisIsAway(t *testing.T) {
	t.Parallel()
	server := testredis.Start(t, testredis.Redis)
	engine, db := openDegradable(t, databases.SQLite(t), server)
	testerr.Must(t, db.Create(&gormplugintest.Suite{ID: 1, PlanID: 1}).Error)
	testerr.Must(t, db.Create(&gormplugintest.Suite{ID: 2, ParentID: new(int64(1)), Name: "a"}).Error)
	names := 0
	// rename has a new name for the suite. degraded is what the answer says of the locks.
	rename := func(path string) (status int, degraded bool) {
		names++
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPatch, path, strings.NewReader(fmt.Sprintf(`{"Name": "n%d"}`, names)))
		r.Header.Set("Content-Type", "application/json")
		engine.ServeHTTP(w, r)
		return w.Code, w.Header().Get("Lock-Degraded") == "true"
	}
	answers := func(path string, want int, without bool) {
		t.Helper()
		if status, degraded := rename(path); status != want || degraded != without {
			t.Errorf("%s is answered by %d, degraded: %t, want %d, %t", path, status, degraded, want, without)
		}
	}
	for range 2 {
		for _, path := range []string{"/suites/2", "/unasserted/2", "/detached/2"} {
			answers(path, http.StatusOK, false)
		}
		server.Kill()
		answers("/suites/2", http.StatusOK, true)
		answers("/unasserted/2", http.StatusServiceUnavailable, false)
		answers("/detached/2", http.StatusServiceUnavailable, false)
		server.Start()
		testserver.Await(t, "locks are taken again", func() bool {
			_, degraded := rename("/suites/2")
			return !degraded
		})
	}
	var path string
	testerr.Must(t, db.Model(&gormplugintest.Suite{}).Where("id = 2").Pluck("path", &path).Error)
	if path != fmt.Sprintf("/n%d", names) {
		t.Errorf("the suite is at %s after %d names", path, names)
	}
}
