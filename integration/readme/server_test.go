package readme

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// What the READMEs show does what they say.
func TestTheCodeOfTheREADMEsWorks(t *testing.T) {
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
	if err := db.AutoMigrate(&Suite{}, &Case{}); err != nil {
		t.Fatal(err)
	}
	locker := pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, options()...)
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	root := Suite{PlanID: 1}
	if err := db.Create(&root).Error; err != nil {
		t.Fatal(err)
	}
	engine := routes(db, locker, plugin)
	send := func(method, target, body string, status int) Suite {
		t.Helper()
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body)))
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
	dir1 := send("POST", "/suites", fmt.Sprintf(`{"parent_id":%d,"name":"dir1"}`, root.ID), http.StatusOK)
	dir2 := send("POST", "/suites", fmt.Sprintf(`{"parent_id":%d,"name":"dir2"}`, dir1.ID), http.StatusOK)
	other := send("POST", "/suites", fmt.Sprintf(`{"parent_id":%d,"name":"other"}`, root.ID), http.StatusOK)
	send("PATCH", fmt.Sprintf("/suites/%d", dir1.ID), `{"name":"new"}`, http.StatusOK)
	send("POST", fmt.Sprintf("/suites/%d/move", dir1.ID), fmt.Sprintf(`{"parent_id":%d}`, other.ID), http.StatusOK)
	send("POST", fmt.Sprintf("/suites/%d/move", other.ID), fmt.Sprintf(`{"parent_id":%d}`, dir2.ID), http.StatusConflict)
	if err := db.Take(&dir2, dir2.ID).Error; err != nil || dir2.Path != "/other/new/dir2" {
		t.Errorf("dir2 is at %q, %v", dir2.Path, err)
	}
	if err := archive(t.Context(), db, &dir2); err != nil {
		t.Error(err)
	}
	if err := db.Take(&dir2, dir2.ID).Error; err != nil || dir2.Path != "/other/new/dir2 (archived)" {
		t.Errorf("after the job, dir2 is at %q, %v", dir2.Path, err)
	}
	send("DELETE", fmt.Sprintf("/suites/%d", dir1.ID), "", http.StatusNoContent)
	if err := db.Take(&Suite{}, dir2.ID).Error; err == nil {
		t.Error("dir2 outlives the suite that it was in")
	}
	send("DELETE", "/cases/1", "", http.StatusNotFound)
	if trees, err := locker.Trees(t.Context()); err != nil || len(trees) != 0 {
		t.Errorf("locks are left in %v, %v", trees, err)
	}
}
