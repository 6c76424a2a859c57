package readme

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/ncruces/go-sqlite3/gormlite"
	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/internal/testserver"
	"github.com/pathlock-go/pathlock/store/memstore"
	"github.com/pathlock-go/pathlock/store/redisstore"
)

// open returns an empty database with the tables of the pages.
func open(t *testing.T) *gorm.DB {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	db, err := gorm.Open(gormlite.Open("file:"+filepath.Join(t.TempDir(), "db")+"?_txlock=immediate&_pragma=busy_timeout(5000)"), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if pool, err := db.DB(); err == nil {
			_ = pool.Close()
		}
	})
	return db
}

// send makes a request and returns the suite in the answer, if there is one.
func send(t *testing.T, handler http.Handler, method, target, body string, status int) Suite {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body)))
	if w.Code != status {
		t.Fatalf("%s %s: %d %s, want %d", method, target, w.Code, w.Body, status)
	}
	var suite Suite
	if w.Body.Len() > 0 && status == http.StatusOK {
		if err := json.Unmarshal(w.Body.Bytes(), &suite); err != nil {
			t.Fatal(err)
		}
	}
	return suite
}

// The code of the pages does what they say.
func TestTheCodeOfThePagesWorks(t *testing.T) {
	db := open(t)
	locker := pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, options()...)
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)); err != nil {
		t.Fatal(err)
	}
	root := Suite{PlanID: 1}
	if err := db.Create(&root).Error; err != nil {
		t.Fatal(err)
	}
	engine := routes(db, locker, plugin)
	dir1 := send(t, engine, "POST", "/suites", fmt.Sprintf(`{"parent_id":%d,"name":"dir1"}`, root.ID), http.StatusOK)
	dir2 := send(t, engine, "POST", "/suites", fmt.Sprintf(`{"parent_id":%d,"name":"dir2"}`, dir1.ID), http.StatusOK)
	other := send(t, engine, "POST", "/suites", fmt.Sprintf(`{"parent_id":%d,"name":"other"}`, root.ID), http.StatusOK)
	send(t, engine, "PATCH", fmt.Sprintf("/suites/%d", dir1.ID), `{"name":"new"}`, http.StatusOK)
	send(t, engine, "POST", fmt.Sprintf("/suites/%d/move", dir1.ID), fmt.Sprintf(`{"parent_id":%d}`, other.ID), http.StatusOK)
	send(t, engine, "POST", fmt.Sprintf("/suites/%d/move", other.ID), fmt.Sprintf(`{"parent_id":%d}`, dir2.ID), http.StatusConflict)
	if err := db.Take(&dir2, dir2.ID).Error; err != nil || dir2.Path != "/other/new/dir2" {
		t.Errorf("dir2 is at %q, %v", dir2.Path, err)
	}
	send(t, engine, "DELETE", fmt.Sprintf("/suites/%d", dir1.ID), "", http.StatusNoContent)
	if err := db.Take(&Suite{}, dir2.ID).Error; err == nil {
		t.Error("dir2 outlives the suite that it was in")
	}
	send(t, engine, "DELETE", "/cases/1", "", http.StatusNotFound)
	if trees, err := locker.Trees(t.Context()); err != nil || len(trees) != 0 {
		t.Errorf("locks are left in %v, %v", trees, err)
	}
}

// redisClient is a client of the Redis that the tests may use, by its URL.
func redisClient(t *testing.T, redisURL string) redis.UniversalClient {
	t.Helper()
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestTheJobsOfThePagesWorkOnRedis(t *testing.T) {
	redisURL := testserver.Redis(t)
	client := redisClient(t, redisURL)
	db := open(t)
	store, err := redisstore.Open(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	locker := pathlock.New(store)
	plugin := gormplugin.New(locker, options()...)
	if err := errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)); err != nil {
		t.Fatal(err)
	}
	handler := routes(db, locker, plugin)
	root := Suite{PlanID: 1}
	if err := db.Create(&root).Error; err != nil {
		t.Fatal(err)
	}
	drafts := send(t, handler, "POST", "/suites", fmt.Sprintf(`{"parent_id":%d,"name":"drafts"}`, root.ID), http.StatusOK)
	old := send(t, handler, "POST", "/suites", fmt.Sprintf(`{"parent_id":%d,"name":"old"}`, drafts.ID), http.StatusOK)

	plan, err := pathlock.NewTree("testplan", "1")
	if err != nil {
		t.Fatal(err)
	}
	if err := tidy(t.Context(), locker, db, plan); err != nil {
		t.Error(err)
	}
	if err := db.Take(&Suite{}, old.ID).Error; !errors.Is(err, gorm.ErrRecordNotFound) {
		t.Errorf("the old draft is still there: %v", err)
	}

	srv := httptest.NewServer(handler)
	defer srv.Close()
	lock, err := locker.Acquire(t.Context(), pathlock.Request{Tree: plan, Claims: []pathlock.Claim{pathlock.X(pathlock.MustParsePath("/a"))}})
	if err != nil {
		t.Fatal(err)
	}
	lock.ReleaseInBackground(t.Context())
	if err := errors.Join(srv.Config.Shutdown(t.Context()), locker.Shutdown(t.Context()), store.Close(t.Context())); err != nil {
		t.Error(err)
	}
	if err := store.Ping(t.Context()); !errors.Is(err, pathlock.ErrUnavailable) {
		t.Errorf("the store after the stop: %v, want ErrUnavailable", err)
	}
	if n, err := client.Exists(t.Context(), strings.TrimSuffix(redisstore.GateKey(plan), "gate")+"locks").Result(); err != nil || n != 0 {
		t.Errorf("a lock is left by the stop: %d, %v", n, err)
	}
}
