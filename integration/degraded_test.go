package integration

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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
	id, name, parent := lockspec.Param("id"), lockspec.JSON("Name"), lockspec.JSON("ParentID")
	handle := func(method, path string, spec lockspec.Spec, do func(db *gorm.DB, c *gin.Context, body suite) error) {
		engine.Handle(method, path, locks.Lock(spec), func(c *gin.Context) {
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
	handle("PATCH", "/suites/:id", lockspec.Rename(id, name).Asserted(), rename)
	handle("PATCH", "/unasserted/:id", lockspec.Rename(id, name), rename)
	handle("PUT", "/suites/:id", lockspec.Move(id, parent).Asserted(), func(db *gorm.DB, c *gin.Context, body suite) error {
		return gormplugin.Move(db, &suite{}, c.Param("id"), gormplugin.Below(*body.ParentID))
	})
	handle("PATCH", "/detached/:id", lockspec.None("it locks itself"), func(_ *gorm.DB, c *gin.Context, _ suite) error {
		_, _, err := locks.Detach(c, lockspec.Slot(id).Asserted(), time.Minute, "")
		return err
	})
	return engine, db
}

// change sends a request that renames or moves a suite. It returns the status, and whether the
// answer says that there was no lock store.
func change(t *testing.T, engine *gin.Engine, method, path string) (status int, degraded bool) {
	w := httptest.NewRecorder()
	body := fmt.Sprintf(`{"Name": "n%d", "ParentID": %d}`, rand.IntN(30), 1+rand.IntN(13))
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	engine.ServeHTTP(w, r)
	return w.Code, w.Header().Get("Lock-Degraded") == "true"
}

// Two instances go on while their Redis is killed under a storm, and take locks again once it is
// back. The tree is right at every moment, whoever has locks.
func TestDegrade_whileRedisIsAway(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode)
	d, server := databases.Postgres(t, databases.ByteOrder, nil), testredis.Start(t, testredis.Redis)
	one, db := openDegradable(t, d, server)
	other, _ := openDegradable(t, d, server)
	testerr.Must(t, db.Create(&gormplugintest.Suite{ID: 1, PlanID: 1}).Error)
	for id := int64(2); id < 14; id++ {
		testerr.Must(t, db.Create(&gormplugintest.Suite{ID: id, ParentID: new(int64(1)), Name: fmt.Sprintf("s%d", id)}).Error)
	}
	// storm has six clients send requests, and returns how many had the effect, by whether their
	// answers say that there was no lock store.
	storm := func(what string, meanwhile func()) (done map[bool]int) {
		t.Helper()
		done = make(map[bool]int)
		var clients sync.WaitGroup
		var mu sync.Mutex
		for n := range 6 {
			clients.Go(func() {
				for range 25 {
					method := []string{http.MethodPatch, http.MethodPut}[rand.IntN(2)]
					status, degraded := change(t, []*gin.Engine{one, other}[n%2], method, fmt.Sprintf("/suites/%d", 2+rand.IntN(12)))
					mu.Lock()
					if status < http.StatusBadRequest {
						done[degraded]++
					} else if status >= http.StatusInternalServerError && meanwhile == nil {
						t.Errorf("%s: answered %d", what, status)
					}
					mu.Unlock()
				}
			})
		}
		ended := make(chan struct{})
		go func() { clients.Wait(); close(ended) }()
		if meanwhile != nil {
			meanwhile()
		}
		for over := false; !over; {
			select {
			case <-ended:
				over = true
			default:
			}
			var wrong []string
			if err := db.Raw(`SELECT c.id || ': ' || c.path FROM suites c LEFT JOIN suites p ON p.id = c.parent_id
				WHERE c.id <> 1 AND (p.id IS NULL OR c.path <> p.path || '/' || c.name)`).Scan(&wrong).Error; err != nil || len(wrong) > 0 {
				t.Errorf("%s: %v, %v", what, wrong, err)
			}
		}
		return done
	}
	if done := storm("with locks", nil); done[false] == 0 || done[true] > 0 {
		t.Errorf("with locks: %v", done)
	}
	server.Kill()
	if done := storm("without the lock store", nil); done[true] == 0 || done[false] > 0 {
		t.Errorf("without the lock store: %v", done)
	}
	for _, path := range []string{"/unasserted/2", "/detached/2"} {
		if status, _ := change(t, one, http.MethodPatch, path); status != http.StatusServiceUnavailable {
			t.Errorf("%s without the lock store: answered %d", path, status)
		}
	}
	server.Start()
	for _, i := range []*gin.Engine{one, other} {
		testserver.Await(t, "locks are taken again", func() bool {
			_, degraded := change(t, i, http.MethodPatch, "/suites/2")
			return !degraded
		})
	}
	if done := storm("with locks again", nil); done[false] == 0 || done[true] > 0 {
		t.Errorf("with locks again: %v", done)
	}
	storm("coming and going", func() {
		server.Kill()
		server.Start()
	})
}
