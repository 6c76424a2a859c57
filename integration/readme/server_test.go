package readme

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/ncruces/go-sqlite3/gormlite"
	"gorm.io/gorm"

	"github.com/pathlock-go/pathlock"
	"github.com/pathlock-go/pathlock/gormplugin"
	"github.com/pathlock-go/pathlock/integration/internal/databases"
	"github.com/pathlock-go/pathlock/internal/test/testerr"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// open returns an empty database.
func open(t *testing.T) *gorm.DB {
	t.Helper()
	gin.SetMode(gin.ReleaseMode)
	return databases.Use(t, gormlite.Open(databases.SQLiteFile(t, "&_txlock=immediate")))
}

// A start goes on where indexes are missing that only make it fast, and without the plugin where
// the database is another one; it ends where siblings could share a name.
func TestGuard(t *testing.T) {
	db, r, unknown := open(t), gin.New(), open(t)
	unknown.Dialector = sqlServer{unknown.Dialector}
	plugin := gormplugin.New(pathlock.New(memstore.New()), options()...)
	table := func(*gin.Context) {}
	if err := guard(r, unknown, plugin, table); err != nil || len(r.Handlers) != 0 {
		t.Errorf("on another database: %v, %d handlers", err, len(r.Handlers))
	}
	testerr.Must(t, db.AutoMigrate(&Suite{}, &Case{}))
	if err := guard(r, db, plugin, table); !errors.Is(err, gormplugin.ErrUnsafeSchema) || len(r.Handlers) != 1 {
		t.Errorf("without unique indexes: %v, %d handlers", err, len(r.Handlers))
	}
	testerr.Must(t, gormplugin.AutoMigrate(db))
	testerr.Must(t, db.Exec("DROP INDEX suites_path").Error)
	again := databases.Use(t, db.Dialector)
	testerr.Must(t, guard(r, again, gormplugin.New(pathlock.New(memstore.New()), options()...), table))
}

// sqlServer is a dialector of a database that the plugin does not know.
type sqlServer struct{ gorm.Dialector }

// Name implements [gorm.Dialector].
func (sqlServer) Name() string { return "sqlserver" }

// The code of the pages does what they say: the routes, and the job that tidies up.
func TestPages_codeWorks(t *testing.T) {
	db := open(t)
	locker := pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, options()...)
	testerr.Must(t, errors.Join(db.Use(plugin), gormplugin.AutoMigrate(db)))
	root := Suite{PlanID: 1}
	testerr.Must(t, db.Create(&root).Error)
	engine := routes(db, locker, plugin)
	send := func(method, target, body string, status int) (suite Suite) {
		t.Helper()
		w := httptest.NewRecorder()
		engine.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body)))
		if w.Code != status {
			t.Fatalf("%s %s: %d %s, want %d", method, target, w.Code, w.Body, status)
		}
		if status == http.StatusOK {
			testerr.Must(t, json.Unmarshal(w.Body.Bytes(), &suite))
		}
		return suite
	}
	create := func(parent Suite, name string) Suite {
		t.Helper()
		return send("POST", "/suites", fmt.Sprintf(`{"parent_id":%d,"name":%q}`, parent.ID, name), http.StatusOK)
	}
	dir1 := create(root, "dir1")
	dir2, other := create(dir1, "dir2"), create(root, "other")
	send("PATCH", fmt.Sprintf("/suites/%d", dir1.ID), `{"name":"new"}`, http.StatusOK)
	send("POST", fmt.Sprintf("/suites/%d/move", dir1.ID), fmt.Sprintf(`{"parent_id":%d}`, other.ID), http.StatusOK)
	send("POST", fmt.Sprintf("/suites/%d/move", other.ID), fmt.Sprintf(`{"parent_id":%d}`, dir2.ID), http.StatusConflict)
	if err := db.Take(&dir2, dir2.ID).Error; err != nil || dir2.Path != "/other/new/dir2" {
		t.Errorf("dir2 is at %q, %v", dir2.Path, err)
	}
	send("DELETE", fmt.Sprintf("/suites/%d", dir1.ID), "", http.StatusNoContent)
	send("DELETE", "/cases/1", "", http.StatusNotFound)

	create(create(root, "drafts"), "old")
	plan, err := pathlock.NewTree("testplan", "1")
	testerr.Must(t, err)
	testerr.None(t, tidy(t.Context(), locker, db, plan))
	var left []string
	if err := db.Model(&Suite{}).Order("path").Pluck("path", &left).Error; err != nil || strings.Join(left, " ") != " /drafts /other" {
		t.Errorf("left are %q, %v", left, err)
	}
	if trees, err := locker.Trees(t.Context()); err != nil || len(trees) != 0 {
		t.Errorf("locks are left in %v, %v", trees, err)
	}
}
