package readme

import (
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
	"github.com/pathlock-go/pathlock/idempotency"
	"github.com/pathlock-go/pathlock/lockspec"
	"github.com/pathlock-go/pathlock/middleware"
	"github.com/pathlock-go/pathlock/store/memstore"
)

// The code of the page on idempotency keeps its word, and so does the one that tells of a commit.
func TestRequestsTakePlaceOnce(t *testing.T) {
	db, err := gorm.Open(gormlite.Open("file:"+filepath.Join(t.TempDir(), "once.db")+"?_txlock=immediate"), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	locker := pathlock.New(memstore.New())
	plugin := gormplugin.New(locker, options()...)
	if err := db.Use(plugin); err != nil {
		t.Fatal(err)
	}
	if err := gormplugin.AutoMigrate(db); err != nil {
		t.Fatal(err)
	}
	keys, err := newKeys(t.Context(), db, func(c *gin.Context) string { return c.GetHeader("X-User") })
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Create(&Suite{PlanID: 1}).Error; err != nil {
		t.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	locks := middleware.New(locker, plugin.Resolver(&Suite{}), middleware.Config{})
	routeOnce(r, db, keys, locks, lockspec.Insert(lockspec.JSON("ParentID"), lockspec.JSON("Name")))
	for _, replayed := range []string{"", "true"} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/suites", strings.NewReader(`{"ParentID":1,"Name":"a"}`))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("X-User", "anna")
		request.Header.Set(idempotency.Header, "8e03978e-40d5-43e8-bc93-6894a57f9324")
		w := httptest.NewRecorder()
		r.ServeHTTP(w, request)
		if w.Code != http.StatusCreated || w.Header().Get(idempotency.ReplayedHeader) != replayed || !strings.Contains(w.Body.String(), `"Path":"/a"`) {
			t.Errorf("%d %s %v", w.Code, w.Body, w.Header())
		}
	}
}
